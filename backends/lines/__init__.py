"""Exact proxes along lines."""
