"""Several solves of one program: paths of a parameter, races of methods, their tables and plots."""
