"""The compiled loops of interior-point steps."""
