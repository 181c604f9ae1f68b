"""Fitted programs in the formats of others."""
