"""The interior-point method: the conic program of a canonical problem, its cones, its linear systems, and the steps."""
