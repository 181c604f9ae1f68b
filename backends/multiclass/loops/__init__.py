"""The compiled loops of the mirror methods."""
