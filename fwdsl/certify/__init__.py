"""The independent verifier: primal value, feasibility and dual bound recomputed from the instance's own data."""
