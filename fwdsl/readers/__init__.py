"""Data sources: what a `from` or a `--data` names, a reader for each format, and scans of the arrays read.

`sources` describes a source and parses the command line's forms, `read` turns a source into arrays, `scan` finds
non-finite numbers and maps labels, `frames` looks at tables whose columns have names. Importing this package loads nothing.
"""
