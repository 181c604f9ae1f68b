"""What a solve returns, and what is made of it: the solution, its values on new data."""
