"""Data sources: what a `from` or a `--data` names, the readers of each format, and scans of what was read.

`sources` describes a source and parses the command line's forms, `read` turns one into arrays, `scan` looks for
non-finite numbers and maps labels. Importing this package loads nothing.
"""
