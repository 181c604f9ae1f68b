"""Finding workers: a count of them on this machine, the address of a scheduler, its file, or a client of Dask."""

from __future__ import annotations

import json
import os
import weakref
from typing import TYPE_CHECKING, Any

from ..errors import RunError
from ..extras import require
from ..grammar.diagnostic import Diagnostic
from ..readers.memory import most_memory, size
from ..solve.forms import default_threads
from .closing import close
from .local import Local

if TYPE_CHECKING:
    from .driver import Cluster

START = 60
"""Seconds within which workers that are started here are there."""

WORKER = 100e6
"""Bytes that a worker takes before it has any rows."""


def connect(workers: Any, *, closing: bool = False) -> Cluster:
    """The cluster of `workers`: how many to start here, "tcp://host:port", the path of a scheduler's file, or a `distributed.Client`.

    With `closing` it is closed once nobody has it any more.

    Raises `RunError`: FW0240 without Dask, FW0241 where there is nobody, FW0242 where versions differ.
    """
    distributed = require("cluster")
    from .driver import Cluster

    own: list[Any] = []
    keywords: dict[str, Any] = {"direct_to_workers": True, "set_as_default": False, "timeout": 5}
    if isinstance(workers, int) or (isinstance(workers, str) and workers.isascii() and workers.isdigit()):
        count = int(workers)
        if count < 1:
            what = f"`client` is {count}, where one worker or more are needed"
            raise RunError([Diagnostic("FW0241", what, hint="give the number of processes, as in `client=2`")])
        if count * WORKER > most_memory():
            what = f"{count:,} workers take {size(count * WORKER)} of memory without any data, and this machine has {size(most_memory())}"
            hint = f"ask for one of each core: {default_threads()}"
            raise RunError([Diagnostic("FW0241", what, hint=hint)])
        try:
            own.append(Local(count, max(1, default_threads() // count)))
            client = distributed.Client(own[0].address, **keywords)
            client.wait_for_workers(count, timeout=START)
        except (OSError, ValueError, TimeoutError) as error:
            close(*own)
            what = f"workers cannot be started: {error or type(error).__name__}"
            raise RunError([Diagnostic("FW0241", what, hint="ask for fewer workers, or solve without")]) from None
        except BaseException:
            close(*own)
            raise
    else:
        try:
            if isinstance(workers, distributed.Client) and not workers.asynchronous:
                client = workers
            elif isinstance(workers, distributed.Client):
                client = distributed.Client(workers.scheduler.address, security=workers.security, **keywords)
            else:
                address = str(workers) if "://" in str(workers) else _address_in(os.fspath(workers))
                client = distributed.Client(_sound(address), **keywords)
        except (OSError, ValueError, TimeoutError) as error:
            what = f"no scheduler answers at {getattr(workers, 'scheduler', workers)}: {error or type(error).__name__}"
            hint = "start one with `dask scheduler`, and workers with `dask worker ADDRESS`"
            raise RunError([Diagnostic("FW0241", what, hint=hint)]) from None
    if client is not workers:  # one that is given is not ours to close
        own.insert(0, client)
    try:
        made = Cluster(client, own)
        if closing:
            weakref.finalize(made, close, *own)
        return made
    except BaseException:
        close(*own)
        raise


def _sound(address: str) -> str:
    """The address. Raises `ValueError` for one that Dask does not take: it would leave a client half made, and say so as that goes."""
    from distributed.comm.addressing import get_address_host_port, parse_address
    from distributed.comm.registry import get_backend

    scheme, _ = parse_address(address)
    get_backend(scheme)
    if scheme in ("tcp", "tls"):
        get_address_host_port(address)
    return address


def _address_in(path: str) -> str:
    """The address in the file that a scheduler writes; Dask itself waits for ever for a file that is not there."""
    try:
        with open(path, encoding="utf-8") as file:
            return str(json.load(file)["address"])
    except OSError as error:
        raise _not_read(path, f"`{path}`, the file of a scheduler, cannot be read: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError):
        raise _not_read(path, f"`{path}` has no address of a scheduler") from None


def _not_read(path: str, what: str) -> RunError:
    hint = f"write it with `dask scheduler --scheduler-file {path}`, or give the scheduler's address, `tcp://HOST:PORT`"
    return RunError([Diagnostic("FW0241", what, hint=hint)])
