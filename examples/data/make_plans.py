"""Draws `track.npz`, `spikes.npz`, `warming.csv`, `orders.npz` and `shifts.npz`: `python examples/data/make_plans.py`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent


def track(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """A cart in the plane: places and speeds every half second, pushed along both axes, and a figure of eight that it is to follow."""
    step = 0.5
    A = np.kron(np.array([[1.0, step], [0.0, 0.95]]), np.eye(2))
    B = np.kron(np.array([[0.5 * step**2], [step]]), np.eye(2))
    t = np.linspace(0.0, 2.0 * np.pi, 61)
    path = np.stack([4.0 * np.sin(t), 3.0 * np.sin(2.0 * t)], axis=1)
    return {"A": A, "B": B, "path": path.round(4), "start": np.zeros(4)}


def spikes(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Ten spikes, blurred by an instrument whose answer rises fast and fades slowly, plus noise."""
    kernel = np.exp(-np.arange(24) / 6.0) - np.exp(-np.arange(24) / 2.0)
    x = np.zeros(150)
    x[rng.choice(150, 10, replace=False)] = rng.uniform(1.0, 4.0, 10)
    seen = np.convolve(kernel, x) + rng.normal(0.0, 0.05, 173)
    return {"kernel": kernel.round(5), "seen": seen.round(4), "truth": x.round(3)}


def warming(rng: np.random.Generator) -> str:
    """Yearly temperatures: three slopes, and weather."""
    year = np.arange(1900, 2021)
    level = np.interp(year, [1900, 1940, 1975, 2020], [8.2, 8.7, 8.6, 10.1])
    lines = [f"{y},{v:.2f}" for y, v in zip(year, level + rng.normal(0.0, 0.25, year.size), strict=True)]
    return "\n".join(["year,temperature", *lines]) + "\n"


def orders(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Half a year of weekly orders of four products, with a season, and what a piece costs to make and to keep."""
    week = np.arange(26)[:, None]
    level = np.array([40.0, 25.0, 60.0, 15.0])
    season = 1.0 + 0.6 * np.sin(2.0 * np.pi * (week / 26.0 - np.array([0.1, 0.35, 0.6, 0.8])))
    demand = np.maximum(0.0, level * season + rng.normal(0.0, 4.0, (26, 4))).round()
    stock = np.array([50.0, 40.0, 70.0, 30.0])
    making = rng.uniform(2.0, 5.0, 4).round(2) * (1.0 + 0.2 * rng.random((26, 4)))
    return {"demand": demand, "stock": stock, "making": making.round(2), "keeping": np.array([0.1, 0.15, 0.05, 0.2])}


def shifts(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """How gladly 12 people take each of 21 shifts, the people that each shift needs, and the shifts that each person may take."""
    glad = rng.uniform(0.0, 5.0, (12, 21)).round(2)
    need = np.tile([3.0, 3.0, 2.0], 7)
    most = rng.integers(5, 8, 12).astype(float)
    return {"glad": glad, "need": need, "most": most}


def main() -> None:
    """Write the files."""
    rng = np.random.default_rng(14)
    np.savez(FOLDER / "track.npz", **track(rng))
    np.savez(FOLDER / "spikes.npz", **spikes(rng))
    (FOLDER / "warming.csv").write_text(warming(rng), encoding="utf-8")
    np.savez(FOLDER / "orders.npz", **orders(rng))
    np.savez(FOLDER / "shifts.npz", **shifts(rng))


if __name__ == "__main__":
    main()
