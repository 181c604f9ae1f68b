"""Linear programs by HiGHS, which SciPy has."""
