"""Dual coordinate descent with shrinking, and an interior point on the samples that matter, for linear machines."""
