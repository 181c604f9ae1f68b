"""Sequential minimal optimisation for kernel machines."""
