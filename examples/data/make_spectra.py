"""Draws the data of the examples on eigenvalues: readings of sensors, settings of an experiment, a network, and a motor: `python make_spectra.py`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

HERE = Path(__file__).parent


def sensors(rng: np.random.Generator) -> np.ndarray:
    """120 readings of 12 sensors in a row, each of which depends on its neighbours alone; standardised."""
    d = 12
    precision = np.eye(d) + 0.45 * (np.eye(d, k=1) + np.eye(d, k=-1))
    precision[0, 7] = precision[7, 0] = 0.3
    readings = rng.multivariate_normal(np.zeros(d), np.linalg.inv(precision), size=120)
    return (readings - readings.mean(axis=0)) / readings.std(axis=0)


def settings() -> np.ndarray:
    """1, a, b, a^2, ab, b^2 at 25 settings of temperature and pressure, each between -1 and 1."""
    a, b = (v.reshape(-1) for v in np.meshgrid(np.linspace(-1.0, 1.0, 5), np.linspace(-1.0, 1.0, 5)))
    return np.column_stack([np.ones(a.size), a, b, a * a, a * b, b * b])


def network() -> np.ndarray:
    """The links of 8 computers, a row each: 1 where it starts and -1 where it ends."""
    links = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (4, 5), (4, 6), (5, 6), (6, 7), (5, 7), (1, 3)]
    rows = np.zeros((len(links), 8))
    for row, (i, j) in zip(rows, links, strict=True):
        row[i], row[j] = 1.0, -1.0
    return rows


def motor() -> dict[str, np.ndarray]:
    """A motor's states (angle, speed, current) over time, cold and hot: dx/dt = A x."""
    cold = np.array([[0.0, 1.0, 0.0], [-2.0, -1.5, 0.8], [0.0, -0.6, -1.2]])
    hot = np.array([[0.0, 1.0, 0.0], [-1.6, -1.1, 0.6], [0.0, -0.9, -1.6]])
    return {"cold": cold, "hot": hot}


if __name__ == "__main__":
    rng = np.random.default_rng(14)
    names = ",".join(f"s{k}" for k in range(12))
    np.savetxt(HERE / "sensors.csv", sensors(rng), delimiter=",", header=names, comments="", fmt="%.4f")
    np.savetxt(HERE / "settings.csv", settings(), delimiter=",", header="one,a,b,aa,ab,bb", comments="", fmt="%g")
    nodes = ",".join(f"n{k}" for k in range(8))
    np.savetxt(HERE / "network.csv", network(), delimiter=",", header=nodes, comments="", fmt="%g")
    np.savez(HERE / "motor.npz", **motor())
