"""Corrections of predicted passes and seconds."""

CONSTANTS: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {}
