"""Low-rank methods for matrix problems with a trace norm: numerical cores that know nothing of the canonical form."""
