"""Colours for programs outside of fwdsl: a lexer for Pygments, and the files that editors and sites take, generated from the records of words.

`python -m fwdsl.highlight.generate` writes the files in `editors/` anew; a test fails where one is stale.
"""
