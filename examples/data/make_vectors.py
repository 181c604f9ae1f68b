"""Draws `scans.npz`, `losses.npz`, `crops.npz`, `bids.npz`, `boxes.npz` and `genome.npz`: `python examples/data/make_vectors.py`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.special import ndtri

HERE = Path(__file__).parent


def scans(rng: np.random.Generator) -> None:
    """A scan of 32 x 32 pixels: a disc and two bars on a ground, and the same with noise."""
    i, j = np.mgrid[:32, :32]
    image = 0.2 * np.ones((32, 32))
    image[(i - 12) ** 2 + (j - 11) ** 2 <= 49] = 1.0
    image[22:26, 4:28] = 0.7
    image[5:20, 23:27] = 0.5
    np.savez_compressed(HERE / "scans.npz", clean=image, noisy=np.round(image + 0.15 * rng.normal(size=(32, 32)), 3))


def losses(rng: np.random.Generator) -> None:
    """400 daily returns of 8 assets that do not exist, a common factor and rare falls among them."""
    market = 0.0004 + 0.01 * rng.standard_t(4, size=400)
    slopes = rng.uniform(0.3, 1.6, size=8)
    own = 0.006 * rng.standard_t(3, size=(400, 8))
    np.savez_compressed(HERE / "losses.npz", R=np.round(np.outer(market, slopes) + own + 0.0011 * slopes, 5))


def crops(rng: np.random.Generator) -> None:
    """The yield of 7 crops on a hectare in 12 kinds of years, in thousands of euros."""
    wet = rng.uniform(-1.0, 1.0, size=12)
    base, slope = rng.uniform(1.5, 3.0, size=7), rng.uniform(-1.2, 1.2, size=7)
    Y = np.round(base + np.outer(wet, slope) + 0.2 * rng.normal(size=(12, 7)), 2)
    np.savez_compressed(HERE / "crops.npz", Y=Y, best=Y.max(axis=1))


def bids(rng: np.random.Generator) -> None:
    """How much 5 groups of a city value an hour of 9 offers of a swimming pool, and the hours of each that there are."""
    np.savez_compressed(
        HERE / "bids.npz", U=np.round(rng.gamma(1.0, 1.0, size=(5, 9)), 2), hours=np.round(rng.uniform(4, 12, size=9))
    )


def boxes() -> None:
    """The largest box: walls of at most 160 square metres, a floor of 50, sides in proportions of 1/2 to 2.

    A row for each product: its exponents of height, width and depth, and the logarithm of its factor.
    """
    walls = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]])  # h w and h d
    floor = np.array([0.0, 1.0, 1.0])
    np.savez_compressed(
        HERE / "boxes.npz", walls=walls, wall_logs=np.log([2.0 / 160, 2.0 / 160]), floor=floor, floor_log=np.log(50.0)
    )


def genome(rng: np.random.Generator) -> None:
    """90 samples of 40 markers in blocks that go together, and a trait that three blocks explain."""
    blocks = np.repeat(np.arange(10), 4)
    X = rng.normal(size=(90, 10))[:, blocks] + 0.35 * rng.normal(size=(90, 40))
    effect = np.zeros(40)
    effect[blocks == 2], effect[blocks == 5], effect[blocks == 8] = 0.6, -0.6, 0.3
    y = X @ effect + 0.7 * rng.normal(size=90)
    lambdas = -ndtri(0.1 * np.arange(1, 41) / 80.0)
    np.savez_compressed(
        HERE / "genome.npz", X=np.round(X, 3), y=np.round(y - y.mean(), 3), lambdas=np.round(lambdas, 4)
    )


if __name__ == "__main__":
    draw = np.random.default_rng(14)
    scans(draw)
    losses(draw)
    crops(draw)
    bids(draw)
    boxes()
    genome(draw)
