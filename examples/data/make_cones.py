"""Draws `feeds.npz`, `customers.csv` and `array.npz`: `python examples/data/make_cones.py`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent


def feeds(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Eight feeds: the mean content of five nutrients, its standard deviation, prices, and what a day's ration needs."""
    content = rng.uniform(0.0, 10.0, (5, 8)) * (rng.random((5, 8)) < 0.7)
    spread = content * rng.uniform(0.05, 0.3, (5, 8))
    price = 1.0 + content.sum(axis=0) * rng.uniform(0.04, 0.08, 8)
    return {"content": content.round(2), "spread": spread.round(3), "price": price.round(2), "need": np.full(5, 20.0)}


def customers(rng: np.random.Generator) -> np.ndarray:
    """Forty customers around three towns: their places in kilometres and what they order a week."""
    towns = np.array([[2.0, 3.0], [9.0, 4.0], [6.0, 11.0]])
    places = towns[rng.integers(3, size=40)] + rng.normal(0.0, 1.2, (40, 2))
    return np.column_stack([places, rng.integers(1, 12, 40)]).round(2)


def array() -> dict[str, np.ndarray]:
    """Twelve aerials on a line, half a wavelength apart: phases at 161 angles, of which those 12 degrees or more away from 20 are side lobes."""
    angles = np.linspace(-90.0, 90.0, 161)
    phases = np.pi * np.outer(np.sin(np.deg2rad(angles)), np.arange(12) - 5.5)
    side = np.abs(angles - 20.0) >= 12.0
    main = np.pi * np.sin(np.deg2rad(20.0)) * (np.arange(12) - 5.5)
    return {
        "C": np.cos(phases[side]),
        "S": np.sin(phases[side]),
        "c0": np.cos(main),
        "s0": np.sin(main),
        "angles": angles,
    }


def main() -> None:
    """Write the three files."""
    rng = np.random.default_rng(14)
    np.savez_compressed(FOLDER / "feeds.npz", **feeds(rng))
    rows = [",".join(f"{v:g}" for v in row) for row in customers(rng)]
    (FOLDER / "customers.csv").write_text("\n".join(["east,north,orders", *rows]) + "\n", encoding="utf-8")
    np.savez_compressed(FOLDER / "array.npz", **array())


if __name__ == "__main__":
    main()
