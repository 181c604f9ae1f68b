"""Draws `rents.csv`: `python examples/data/make_rents.py`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

DISTRICTS = {"harbour": 120, "hill": 260, "old town": 310, "station": 40, "university": 150, "west": 0}
HEATING = {"district": 0, "gas": -20, "heat pump": 45, "oil": -60}


def main() -> None:
    """Write 160 flats: the rent is linear in area and rooms, with a part for the district and one for the heating."""
    rng = np.random.default_rng(12)
    lines = ["area,rooms,district,heating,balcony,rent"]
    for _ in range(160):
        rooms = int(rng.integers(1, 6))
        area = round(float(rng.normal(18 + 22 * rooms, 8)), 1)
        district, heating = str(rng.choice(list(DISTRICTS))), str(rng.choice(list(HEATING)))
        balcony = bool(rng.random() < 0.6)
        rent = 280 + 9 * area + 35 * rooms + DISTRICTS[district] + HEATING[heating] + 30 * balcony + rng.normal(0, 40)
        lines.append(f"{area},{rooms},{district},{heating},{'yes' if balcony else 'no'},{rent:.0f}")
    Path(__file__).with_name("rents.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
