"""Measuring what methods cost on a spread of problems, and fitting the planner's constants to it (`python benchmarks/calibrate.py`)."""
