"""HTML and SVG, with the standard library alone: markup that is escaped, tables, charts, colours for light and dark.

What an object shows is made beside the object, as its text is; here are the parts that all share.
"""
