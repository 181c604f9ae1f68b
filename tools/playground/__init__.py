"""The playground: `docs/playground/` with everything that it loads, in one folder."""
