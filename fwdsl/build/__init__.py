"""The builder: programs written in Python. It makes the syntax tree that the parser makes of the same program's text."""
