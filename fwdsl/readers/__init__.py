"""Data sources: what a `from` or a `--data` names, a reader for each format, and scans of the arrays read.

`sources` describes a source and parses the command line's forms, `read` turns a source into arrays, `scan` finds
non-finite numbers and maps labels. Importing this package loads nothing.
"""
