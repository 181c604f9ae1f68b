"""The language server, `fwdsl lsp` (extra `lsp`): what editors show while a program is written.

`server` answers requests; `convert` and `actions` put answers into the words of the protocol. The rest is plain Python over the parser and
the checker. Nothing here knows a word of the language: words, options and keywords are asked of their records in `fwdsl.words`.
"""
