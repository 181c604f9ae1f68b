"""Newton's method for smooth losses of free variables, with ridges or without."""
