"""Problems of cvxpy read as programs: leaves by their names, constants as data, terms and constraints by the words that they have."""

from .program import Read, read_problem

__all__ = ["Read", "read_problem"]
