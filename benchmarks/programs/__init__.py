"""Programs that people write, beside CVXPY: `python -m benchmarks.programs`."""

import sys
from pathlib import Path

# the helpers of the benchmarks are imported by their own names, as their scripts do
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
