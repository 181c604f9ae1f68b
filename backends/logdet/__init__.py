"""Sparse inverse covariances: c (<Q, X> - log det X) + sum_ij L_ij |X_ij| of one symmetric matrix, by a proximal Newton method."""
