"""The site: its configuration is `docs/conf.py`, its pages are those of `docs/` and those that this package writes from the records at build time."""
