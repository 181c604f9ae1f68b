"""Least squares on the Gram matrix, in intervals, simplices and l1 balls: block principal pivoting."""
