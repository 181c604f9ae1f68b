"""Draws `channels.csv`, `races.npz`, `claims.csv`, `spenders.npz`, `scanner.npz` and `walls.csv`: `python examples/data/make_rates.py`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent


def channels(rng: np.random.Generator) -> str:
    """The noise of 48 frequencies of a line, lower in two bands."""
    f = np.arange(48)
    noise = 0.9 - 0.55 * np.exp(-(((f - 12) / 6.0) ** 2)) - 0.4 * np.exp(-(((f - 33) / 4.0) ** 2))
    noise = noise * np.exp(rng.normal(0.0, 0.12, 48))
    return "\n".join(["noise", *(f"{v:.4f}" for v in noise)]) + "\n"


def races(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Sixty ways that a day of five bets may end, with their chances; what each bet then pays, and money that is kept, in the last column."""
    chance = rng.dirichlet(np.full(60, 2.0))
    odds = np.array([1.7, 2.3, 3.4, 5.0, 8.0])
    wins = rng.random((60, 5)) < 1.08 / odds
    paid = np.column_stack([wins * odds, np.ones(60)])
    return {"chance": (chance / chance.sum()).round(6), "paid": paid}


def claims(rng: np.random.Generator) -> str:
    """What 400 insured cars cost in a year: nothing for most, sums that are compound Poisson for the others."""
    n = 400
    age, power, town = rng.uniform(18, 80, n), rng.uniform(0.8, 3.0, n), rng.random(n) < 0.45
    mean = np.exp(0.2 + 0.012 * np.abs(age - 45.0) + 0.35 * power + 0.4 * town)
    number = rng.poisson(0.35 * mean**0.5)
    cost = np.array([rng.gamma(2.0, 0.7, k).sum() for k in number]) * mean**0.5
    one = [
        f"{(a - 45) / 15:.3f},{abs(a - 45) / 15:.3f},{p:.2f},{int(t)}" for a, p, t in zip(age, power, town, strict=True)
    ]
    rows = [f"{line},{c:.3f}" for line, c in zip(one, cost, strict=True)]
    return "\n".join(["age,from_middle_age,power,town,cost", *rows]) + "\n"


def spenders(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Five advertisers of a page over a day of 24 hours: clicks for a view, cents for a click, budgets, views that they were promised."""
    hours, count = 24, 5
    traffic = 30.0 + 20.0 * np.sin(2.0 * np.pi * (np.arange(hours) - 9.0) / hours) + rng.uniform(0.0, 5.0, hours)
    clicks = rng.uniform(0.02, 0.12, (count, hours)) * (
        1.0 + 0.5 * np.sin(rng.uniform(0, 6, (count, 1)) + np.arange(hours) / 4.0)
    )
    cents = rng.uniform(0.5, 2.0, count)
    budget = np.array([8.0, 40.0, 15.0, 60.0, 25.0])
    promised = rng.uniform(50.0, 120.0, count)
    return {
        "worth": (cents[:, None] * clicks).round(4),
        "traffic": traffic.round(2),
        "budget": budget.round(2),
        "promised": promised.round(1),
    }


def scanner(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """A picture of 12 x 12 points that glow, and the flashes that 150 pairs of detectors around it count."""
    side = 12
    place = (
        np.stack(np.meshgrid(np.arange(side), np.arange(side), indexing="ij"), axis=-1).reshape(-1, 2) - (side - 1) / 2
    )
    picture = np.where(np.hypot(*(place - [1.0, -2.0]).T) < 2.6, 8.0, 0.0) + np.where(
        np.hypot(*place.T) < 5.5, 2.0, 0.0
    )
    rows = []
    for angle in np.linspace(0.0, np.pi, 15, endpoint=False):
        across = place @ np.array([np.cos(angle), np.sin(angle)])
        rows += [np.exp(-(((across - s) / 0.6) ** 2)) for s in np.linspace(-5.5, 5.5, 10)]
    A = np.array(rows).round(3)
    return {"A": A, "counts": rng.poisson(A @ picture).astype(float), "picture": picture}


def walls(rng: np.random.Generator) -> str:
    """Fourteen walls a'x <= b around a room in the plane."""
    angle = np.sort(rng.uniform(0.0, 2.0 * np.pi, 14))
    b = rng.uniform(1.0, 3.0, 14)
    lines = [f"{np.cos(t):.4f},{np.sin(t):.4f},{v:.3f}" for t, v in zip(angle, b, strict=True)]
    return "\n".join(["a0,a1,b", *lines]) + "\n"


def main() -> None:
    """Write the files beside this script."""
    rng = np.random.default_rng(20261126)
    (FOLDER / "channels.csv").write_text(channels(rng), encoding="utf-8")
    np.savez_compressed(FOLDER / "races.npz", **races(rng))
    (FOLDER / "claims.csv").write_text(claims(rng), encoding="utf-8")
    np.savez_compressed(FOLDER / "spenders.npz", **spenders(rng))
    np.savez_compressed(FOLDER / "scanner.npz", **scanner(rng))
    (FOLDER / "walls.csv").write_text(walls(rng), encoding="utf-8")


if __name__ == "__main__":
    main()
