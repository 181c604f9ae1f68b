"""The playground: `docs/playground/editor/` with everything that it loads, in one folder."""
