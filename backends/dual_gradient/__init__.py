"""Accelerated gradient on the dual of strongly convex sums over entries with sizes and lengths of sparse rows, such as total variation."""
