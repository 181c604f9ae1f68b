"""The atoms of the language: losses, and functions of one vector. Each is one file with its formulas, facts, kernels and references."""
