"""The end of clients of Dask, and of what was started for them."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import Any


def close(*things: Any) -> None:
    """Close a client, and what was started for it."""
    logging.getLogger("distributed.client").addFilter(_is_news)
    for thing in things:
        with suppress(Exception):
            thing.close(timeout=2.0)


def _is_news(record: logging.LogRecord) -> bool:
    """False of the traceback with which a closed client of Dask gives up looking for a scheduler that is gone."""
    return record.exc_info is None or not isinstance(record.exc_info[1], asyncio.CancelledError)
