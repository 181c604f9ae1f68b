"""The side of the driver: connecting to workers, sharing rows out, asking, and replacing workers that are lost.

A worker holds a range of the leaves of each matrix, its *share*. Each question is one round trip to every share at once. Whoever does not answer
and is no longer known to the scheduler is lost: its share is taken by another worker, which reads the same rows by path, range and fingerprint (or is
sent them, where they are in this process's memory) and is asked again. Where the scheduler is lost too, or a share is lost again and again, `lost`
says so: nobody is asked any more, and the run ends with the best certified point.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from ..backends.row_vectors import Definition, Want
from ..bind.checks import check_uses
from ..bind.findings import Findings
from ..bind.instance import Instance
from ..bind.observed_places import Places
from ..bind.values import Entries, HeldEntries
from ..canon.data_maps import held, leaves_of
from ..canon.factored import why_entries_stay
from ..errors import DataError, RunError
from ..grammar.diagnostic import Diagnostic
from ..readers.held_rows import HeldRows, InHands, OfRows, held_rows, is_held
from ..readers.row_blocks import Array, ChangedFile, in_file, is_on_disk
from ..solve.forms import default_threads
from ..sums import Node, Rows, cut_evenly
from . import costs
from .closing import close
from .holder import ROOM, Failed, Holder, versions
from .holder import versions as own_versions
from .tasks import MOST_LOSSES, PATIENCE, WAIT, answers

SILENCE = 15.0
"""Seconds after which a scheduler that does not answer is lost: on a busy machine one takes more than 5."""

STILL = 15.0
"""Seconds without a sign of life after which a worker is lost that the scheduler still lists: stopped, or cut off. The scheduler itself gives one up
after 5 to 10 minutes. Less than `WAIT`, so that another worker reads what it was to read."""

SIGNS = 3
"""Signs of life that have to be missed at least: of thousands of workers each gives one in many seconds."""

BEGINS = 60.0
"""Seconds within which all workers import fwdsl and tell their versions."""

FITS = 0.8
"""The share of a worker's memory that rows may take which have no file to stay in."""

STRAGGLES = 1.5
"""The work of a worker beside that of the middle one from which on it is told."""


FORGIVEN = 0.1
"""The part of a loss that an answer makes good: a worker that dies at every other question is given up, one that dies now and then is not."""

LISTED = 8
"""Workers up to which the live line has the seconds of each."""


class Lost(Exception):
    """The cluster cannot answer any more, and says why."""


@dataclass
class Share:
    """The ranges of leaves that one worker holds, by matrix."""

    number: int
    address: str = ""
    actor: Any = None
    losses: float = 0.0
    busy: float = 0.0
    waited: float = 0.0
    holds: dict[str, _Range] = field(default_factory=dict)
    terms: dict[str, tuple[str, Any, int]] = field(default_factory=dict)
    #: The expressions of each term that the worker has worked out.
    known: dict[str, set[int]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Range:
    source: Any
    nbytes: int  # in the memory of its worker for good: 0 for rows that may stay in their file
    rows: Rows
    first: int
    leaves: tuple[Rows, ...]
    count: int


Ask = tuple[Share, str, Callable[[], tuple[Any, ...]]]
"""A share, the method of its holder, and what makes the arguments: anew, where another worker has taken the share."""


class Cluster:
    """Workers that hold rows, in as many shares as there are workers unless `shares` says otherwise.

    Close it, or use it in a `with`: what it has of its `own` (the client, workers that were started for it) is closed with it.
    """

    def __init__(self, client: Any, own: Sequence[Any] = (), shares: int | None = None) -> None:
        self._client: Any = client
        self._own = own
        self.lost = ""
        #: Sentences on what was lost.
        self.told: list[str] = []
        self.round_trips = 0
        self._waited = self._busiest = 0.0
        #: Matrices and terms that nobody asks about any more; holders are told with the next question.
        self.forgotten: list[str] = []
        self._looked, self._there = 0.0, dict[str, int]()
        #: When the scheduler last heard of each worker, by its own clock, and for how long that was so.
        self._signs: dict[str, tuple[float, float]] = {}
        self._check_versions()
        try:
            self.shares = [Share(i) for i in range(shares or len(self.workers()))]
            for share in self.shares:
                self._engage(share)
        except Lost as lost:
            raise _gone(lost) from None

    # --- workers ------------------------------------------------------------------------------------------------------

    def workers(self, within: float = 0.0) -> Mapping[str, int]:
        """The addresses of the workers that give signs of life and their threads, not older than so many seconds. Raises `Lost` where the scheduler
        is silent."""
        if not self._there or time.monotonic() - self._looked > within:
            told = self._told_workers()
            now = time.monotonic()
            # between two looks no more than a second counts: a process that was stopped itself takes nobody for lost
            since, self._looked = min(now - self._looked, 1.0), now
            before, self._signs = self._signs, {}
            for address, worker in told.items():
                seen, still = before.get(address, (None, 0.0))
                self._signs[address] = worker["last_seen"], still + since if worker["last_seen"] == seen else 0.0
            self._there = {a: worker["nthreads"] for a, worker in told.items() if not self._is_still(a)}
        return self._there

    def _told_workers(self) -> dict[str, Any]:
        """All that the scheduler knows of each worker. Raises `Lost` where it is silent."""
        try:
            info = self._sync(self._client.scheduler.identity, SILENCE, n_workers=-1)
        except Exception as error:
            raise _silent(error) from None
        return dict(info["workers"])

    def _is_still(self, address: str) -> bool:
        """True of a worker that has given no sign of life for long."""
        interval = 1.0 + len(self._signs) / 200  # Dask's own, of many workers; few tell more often
        return self._signs.get(address, (0.0, 0.0))[1] > max(STILL, SIGNS * interval)

    def _sync(self, fn: Callable[..., Any], timeout: float, **keywords: Any) -> Any:
        if self._client.status != "running":
            raise OSError("the connection is closed")

        async def bounded() -> Any:
            return await asyncio.wait_for(fn(**keywords), timeout)

        return self._client.sync(bounded, callback_timeout=timeout + 1.0)

    def _check_versions(self) -> None:
        found = self._versions()
        if not found:
            raise _refused("FW0241", "the scheduler has no workers", "start some: `dask worker ADDRESS`")
        own = own_versions()
        for address, theirs in found.items():
            differ = [
                f"{name} {theirs.get(name)} there and {own[name]} here" for name in own if theirs.get(name) != own[name]
            ]
            if differ:
                what = f"the worker at {address} has other versions: {', '.join(differ)}"
                raise _refused(
                    "FW0242", what, "install the same versions everywhere: answers are to have the same bits"
                )

    def _versions(self) -> dict[str, dict[str, Any]]:
        """The versions of each worker. One that is lost as it is asked is waited for, as it is most often started again."""
        deadline, lost = time.monotonic() + WAIT, list[str]()
        while True:
            try:
                found = self._sync(self._client.run, BEGINS, function=versions, on_error="return")
                gone = [address for address, told in found.items() if isinstance(told, OSError)]
                for told in found.values():
                    if isinstance(told, BaseException) and not isinstance(told, OSError):
                        raise told
            except TimeoutError:
                what = f"not all of the {len(self.workers())} workers tell their versions within {BEGINS:.0f} s"
                raise _refused("FW0241", what, "end those that are stopped or cut off, and start others") from None
            except Exception as error:
                what = f"a worker cannot run fwdsl: {error}"
                raise _refused("FW0241", what, "install the same fwdsl on every worker") from None
            lost += gone
            if not gone and (found or not lost):
                return dict(found)
            if time.monotonic() > deadline:
                return {address: told for address, told in found.items() if address not in gone}
            time.sleep(0.2)

    def _engage(self, share: Share) -> None:
        """Give a share to a worker, an idle one where there is one."""
        deadline = time.monotonic() + WAIT
        while True:
            there = self.workers()
            taken = [s.address for s in self.shares if s is not share] if hasattr(self, "shares") else []
            free = sorted(there, key=lambda a: (taken.count(a), a == share.address, a))
            free = [address for address in free if self._may_take(share, address)]
            if free:
                address = (
                    free[0] if share.actor is not None or share.number >= len(there) else sorted(there)[share.number]
                )
                threads = there[address]
                try:
                    room = ROOM * self._memory_of(address)
                    future = self._client.submit(
                        Holder, threads, room, actor=True, pure=False, workers=[address], allow_other_workers=False
                    )
                    self._wait(future, address, deadline)  # a worker that is nearly out of memory begins nothing
                    share.actor, share.address = future, address
                    share.known.clear()
                    for key, range_ in share.holds.items():
                        self._give(share, key, range_)
                    for name, (key, term, each) in share.terms.items():
                        self._answer(share, self._call(share, "take_term", name, key, term, each))
                    return
                except (DataError, RunError, Lost):
                    raise
                except Exception:
                    pass  # that worker was lost too
            if time.monotonic() > deadline:
                full = ": they do not fit beside those that the others hold" if there and not free else ""
                raise Lost(f"no worker took the rows of the one that was lost within {WAIT:.0f} s{full}")
            time.sleep(0.1)

    def _memory_of(self, address: str) -> float:
        """The bytes that a worker may take. Raises `OSError` where the scheduler knows it no more."""
        info = self._sync(self._client.scheduler.identity, SILENCE, n_workers=-1)
        if address not in info["workers"]:
            raise OSError("the worker is gone")
        return float(info["workers"][address]["memory_limit"] or np.inf)

    def _may_take(self, share: Share, address: str) -> bool:
        """True if a worker is there and has room for the rows of the share."""
        try:
            return self._has_room(share, address)
        except OSError:
            return False

    def _has_room(self, share: Share, address: str) -> bool:
        """True if the worker can hold the rows of the share beside those that it has."""
        there = [s for s in self.shares if s is share or s.address == address] if hasattr(self, "shares") else []
        needed = sum(range_.nbytes for s in there for range_ in s.holds.values())
        return not needed or needed <= FITS * self._memory_of(address)

    def _give(self, share: Share, key: str, range_: _Range) -> None:
        data = held(range_.source, *range_.rows)
        if isinstance(data, np.ndarray):
            data = np.asarray(data)  # a map is sent by its numbers
        if not self._has_room(share, share.address):
            _raise(Failed("out of memory", ()), share)
        call = self._call(share, "take", key, data, range_.rows[0], range_.first, range_.leaves, range_.count)
        found = self._answer(share, call)
        if isinstance(found, Failed):
            _raise(found, share)

    def _call(self, share: Share, what: str, *args: Any) -> Future[Any]:
        """A call of a method of a share's holder: what `distributed.Actor` does, without a client that the whole process has."""
        from distributed.protocol.serialize import to_serialize

        client, address, key = self._client, share.address, share.actor.key

        async def call() -> Any:
            found = await client.rpc(address).actor_execute(
                function=what, actor=key, args=[to_serialize(a) for a in args], kwargs={}
            )
            if found["status"] != "OK":
                raise found["exception"]
            return found["result"]

        return asyncio.run_coroutine_threadsafe(call(), client.loop.asyncio_loop)

    def _answer(self, share: Share, future: Future[Any]) -> Any:
        """The result of a call. Raises `OSError` where its worker is lost, and `Lost` where the scheduler is."""
        return self._wait(future, share.address)

    def _wait(self, future: Any, address: str, deadline: float = np.inf) -> Any:
        while True:
            try:
                return future.result(timeout=PATIENCE)
            except TimeoutError:
                if time.monotonic() > deadline:
                    raise OSError("the worker begins nothing") from None
                if future.done():
                    raise OSError("the worker does not answer") from None
                if address not in self.workers(within=PATIENCE):
                    raise OSError("the worker is gone") from None

    # --- sharing out --------------------------------------------------------------------------------------------------

    def share(self, instance: Instance) -> Instance:
        """The instance with its matrices of several leaves in the hands of the workers; what needs all entries of one stays here."""
        values = dict(instance.values)
        found: dict[str, HeldRows] = {}
        stays: dict[str, str] = {}
        for name, value in values.items():
            stats = instance.stats.get(name)
            if isinstance(value, Entries) and not isinstance(value, HeldEntries):
                values[name] = self._share_entries(instance, name, value, stays)
            if is_held(value) or stats is None or stats.storage not in ("dense", "csr") or len(stats.shape) != 2:
                continue
            leaves = leaves_of(value)
            if leaves is not None and len(leaves) > 1:
                found[name] = held_rows(in_file(value), leaves)
        whole = check_uses(instance.model, found, Findings(instance.model.source))
        for name, value in found.items():
            if name not in whole:
                value.hands = self._hand_out(value.source, value.leaves)
                values[name] = value
        return replace(instance, values=values, stays=stays)

    def _share_entries(self, instance: Instance, name: str, entries: Entries, stays: dict[str, str]) -> Entries:
        """Observed entries whose places workers hold; themselves, with the reason among `stays`, where workers can do nothing with them."""
        reason = why_entries_stay(instance)
        if not reason:
            places, _ = entries.by_rows
            if len(places.leaves) > 1:
                return HeldEntries.of(entries, self._hand_out(places, places.leaves))
            reason = f"{places.size:,} in {places.shape[1]:,} columns are too few to share out"
        stays[name] = reason
        return entries

    def _hand_out(self, source: Any, leaves: tuple[Rows, ...]) -> HeldBy:
        """Give each worker a range of the leaves of a matrix, or of observed entries. Raises `RunError`."""
        try:
            return self._handed_out(source, leaves)
        except Lost as lost:
            raise _gone(lost) from None

    def _handed_out(self, source: Any, leaves: tuple[Rows, ...]) -> HeldBy:
        key = f"{uuid.uuid4().hex}"
        ranges = cut_evenly(len(leaves), min(len(self.shares), len(leaves)))
        by: list[tuple[Share, Rows, Rows]] = []
        for share, (first, last) in zip(self.shares, ranges, strict=False):
            row, end = leaves[first][0], leaves[last - 1][1]
            own = tuple((a - row, b - row) for a, b in leaves[first:last])
            nbytes = 0 if is_on_disk(source) else bytes_of(held(source, row, end))
            share.holds[key] = _Range(source, nbytes, (row, end), first, own, len(leaves))
            by.append((share, (first, last), (row, end)))
            try:
                self._give(share, key, share.holds[key])
            except OSError:
                self._replace(share)
        return HeldBy(self, key, by, len(leaves), source.indptr if isinstance(source, Places) else None)

    def each(self, fn: Callable[..., Any], asked: Sequence[tuple[Any, ...]]) -> list[Any]:
        """fn of each of some arguments, those that come first on the first worker: what it reads is most likely what it will hold.

        Raises `RunError`: FW0241 where the scheduler is lost, FW0243 where fn fails on a worker, or its worker is lost again and again.
        """
        try:
            return answers(self, self._client, fn, asked)
        except Lost as lost:
            raise _gone(lost) from None
        except Exception as error:
            reason = (str(error).splitlines() or [""])[0] or type(error).__name__
            hint = "files lie where every worker has them under the same path, and one of them at a time fits into its memory"
            raise _refused("FW0243", f"a worker cannot read its files: {reason}", hint) from None

    def at_work(self) -> tuple[set[str], bool]:
        """The keys of the tasks that workers have, and whether any worker works on one; of those that give signs of life. Raises `Lost` where the
        scheduler is silent."""
        try:
            placed = self._sync(self._client.scheduler.processing, SILENCE, workers=None)
        except Exception as error:
            raise _silent(error) from None
        told = {address: worker for address, worker in self._told_workers().items() if not self._is_still(address)}
        counts = [worker["metrics"].get("task_counts", {}) for worker in told.values()]
        keys = {key for address, keys in placed.items() if not self._is_still(address) for key in keys}
        return keys, any(c.get("executing") for c in counts)

    # --- asking -------------------------------------------------------------------------------------------------------

    def ask(self, asks: Sequence[Ask]) -> list[Any]:
        """The answers to one question of each share. Raises `Lost`."""
        self.round_trips += 1
        if self.forgotten:
            names, self.forgotten = tuple(self.forgotten), []
            for share in self.shares:
                self._call(share, "drop", names)  # nobody waits for that
        began = time.perf_counter()
        futures = [self._call(share, what, *args()) for share, what, args in asks]
        found, spent = [], []
        for (share, what, args), future in zip(asks, futures, strict=True):
            try:
                seconds, answer = self._answered(share, what, args, future)
            except MemoryError:
                answer = Failed("out of memory", ())
            if isinstance(answer, Failed):
                if answer.kind == "out of memory":  # what was found so far is kept
                    raise Lost(f"the worker at {share.address} has too little memory for its part of the work")
                _raise(answer, share)
            share.losses = max(0.0, share.losses - FORGIVEN)
            share.busy += seconds
            spent.append(seconds)
            found.append(answer)
        took = time.perf_counter() - began
        self._waited += took
        self._busiest += max(spent, default=0.0)
        for share, _, _ in asks:
            share.waited += took
        return found

    def _answered(self, share: Share, what: str, args: Callable[[], tuple[Any, ...]], future: Future[Any]) -> Any:
        """The answer to a question that was put, by another worker where its own is lost. Raises `Lost`."""
        while True:
            try:
                return self._answer(share, future)
            except (OSError, KeyError, RuntimeError):
                self._replace(share)
                future = self._call(share, what, *args())

    def _replace(self, share: Share) -> None:
        """Give the share of a lost worker to another one."""
        share.losses += 1
        lost = share.address
        if share.losses > MOST_LOSSES:
            raise Lost("the rows of one worker were lost again and again (its memory limit?)")
        self._engage(share)
        self.told.append(f"worker {lost} was lost, and its rows were read again elsewhere")

    # --- costs --------------------------------------------------------------------------------------------------------

    @cached_property
    def transport(self) -> costs.Transport:
        """The transport to a worker, measured when it is first asked for."""
        share = self.shares[0]

        def echo(payload: bytes) -> Any:
            return self._answered(share, "echo", lambda: (payload,), self._call(share, "echo", payload))

        return costs.measured(echo)

    def predicted(self, instance: Instance) -> list[str]:
        """Lines on what products with shared matrices take, and on how many workers pay; none where nobody answers any more."""
        found: list[str] = []
        try:
            there = self.workers(within=60.0)
            threads = max(1, min(there.values(), default=1))
            for name, value in instance.values.items():
                if isinstance(value, InHands):
                    stats = instance.stats[name]
                    found += costs.told(name, stats, self.transport, len(there), threads, default_threads())
        except Lost as lost:
            self.lost = str(lost)
        return found

    def state(self) -> str:
        """The seconds of work of each worker so far (of many the least and the most), the share of time that was transport, and who lags."""
        holding = [s for s in self.shares if s.waited]
        if not holding:
            return ""
        busy = [f"{s.busy:.1f}" for s in holding]
        if len(holding) > LISTED:
            busy = [f"{len(holding)} with {min(s.busy for s in holding):.1f} to {max(s.busy for s in holding):.1f}"]
        slow = _straggler(holding)
        lags = "" if slow is None else f"  slowest {slow[0].address}, {slow[1]:.1f} times {_compared(holding)}"
        return f"workers {', '.join(busy)} s  {self._transported():.0%} transport{lags}"

    def _transported(self) -> float:
        """The share of the time of all questions in which not even the slowest worker worked."""
        return max(0.0, 1.0 - self._busiest / self._waited) if self._waited else 0.0

    # --- telling ------------------------------------------------------------------------------------------------------

    def told_at_start(self) -> list[str]:
        """Lines on who holds what."""
        holding = [s for s in self.shares if s.holds]
        if not holding:
            return ["the workers have nothing to do: no matrix has rows of more than 131,072 numbers to share out"]
        rows = sum(range_.rows[1] - range_.rows[0] for s in holding for range_ in s.holds.values())
        return [f"{len(holding)} worker{'s hold' if len(holding) > 1 else ' holds'} {rows:,} rows"]

    def lines(self) -> list[str]:
        """Lines on what the workers did: round trips, the share of time that was not theirs, stragglers, losses."""
        holding = [s for s in self.shares if s.holds and s.waited]
        if not holding:
            return []
        found = [
            f"workers: {self.round_trips:,} round trips in {self._waited:.2f} s, {self._transported():.0%} of it transport; "
            f"{', '.join(f'{s.busy:.2f} s' for s in holding)} of work"
        ]
        slow = _straggler(holding)
        if slow is not None:
            found.append(f"the worker at {slow[0].address} took {slow[1]:.1f} times as long as {_compared(holding)}")
        return [*found, *self.told, *([self.lost] if self.lost else [])]

    def require(self) -> None:
        """Raise `RunError` FW0241 where nobody can be asked any more."""
        if self.lost:
            raise _gone(Lost(self.lost))

    # --- the end ------------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Let go of the rows, and end what was started for this cluster alone."""
        if not self.lost and self._client.status == "running":
            for share in self.shares:
                try:
                    self._call(share, "drop", (*share.holds, *share.terms)).result(timeout=2.0)
                except Exception:
                    break
        close(*self._own)

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass
class HeldBy:
    """The hands of one matrix (`fwdsl.readers.held_rows.Hands`)."""

    cluster: Cluster
    key: str
    by: list[tuple[Share, Rows, Rows]]
    count: int
    #: Of observed entries, where those of each row begin.
    indptr: Any = None

    def predictions(self, rows: Rows, each: int) -> slice:
        """The predictions of some rows: so many a row, or one for each observed entry."""
        return slice(*(n * each if self.indptr is None else int(self.indptr[n]) for n in rows))

    @property
    def lost(self) -> str:
        return self.cluster.lost

    def __del__(self) -> None:
        for share, _, _ in self.by:
            share.holds.pop(self.key, None)
        self.cluster.forgotten.append(self.key)

    def rows(self, what: str, common: Sequence[Any] = ()) -> list[Array] | None:
        """The numbers of each range of rows."""
        found = self._ask(
            [(share, "ask", partial(_these, self.key, what, (), tuple(common))) for share, _, _ in self.by]
        )
        return None if found is None else [rows for answer in found for _, rows in answer]

    def nodes(
        self, what: str, of_rows: Sequence[Array], common: Sequence[Any] = (), level: int = 0
    ) -> list[tuple[Node, Any]] | None:
        """The values of nodes; None also where a node of this level has several holders."""
        if any(first % (1 << level) for _, (first, _), _ in self.by):
            return None
        asks = [
            (share, "ask", partial(_these, self.key, what, tuple(v[start:stop] for v in of_rows), tuple(common)))
            for share, _, (start, stop) in self.by
        ]
        found = self._ask(asks)
        return None if found is None else [(node, _own(value)) for answer in found for node, value in answer]

    def term(self, term: Any, each: int) -> TermHeldBy | None:
        """The holders of the rows of a term, which are sent their targets and weights."""
        name = uuid.uuid4().hex
        parts = [term.part(first, last) for _, (first, last), _ in self.by]
        asks: list[Ask] = []
        for (share, _, _), part in zip(self.by, parts, strict=True):
            share.terms[name] = self.key, part, each
            asks.append((share, "take_term", partial(_these, name, self.key, part, each)))
        try:
            return None if self._ask(asks) is None else TermHeldBy(self, name, each)
        except TypeError:  # a word from outside that cannot be sent
            for share, _, _ in self.by:
                del share.terms[name]
            raise

    def _ask(self, asks: Sequence[Ask]) -> list[Any] | None:
        if self.cluster.lost:
            return None
        try:
            return self.cluster.ask(asks)
        except Lost as lost:
            self.cluster.lost = str(lost)
            return None


@dataclass
class TermHeldBy:
    """The holders of the rows of one term (`fwdsl.backends.row_vectors.Holders`)."""

    hands: HeldBy
    name: str
    each: int

    def run(
        self, question: Callable[[Collection[int]], tuple[Sequence[Definition], Sequence[Want], Sequence[int]]]
    ) -> list[tuple[Node, list[Any]]] | None:
        """The wanted values of all nodes."""
        asks: list[Ask] = [
            (share, "run", partial(self._arguments, share, rows, question)) for share, _, rows in self.hands.by
        ]
        found = self.hands._ask(asks)
        return None if found is None else [(node, _own(values)) for answer in found for node, values in answer]

    def _arguments(self, share: Share, rows: Rows, question: Any) -> tuple[Any, ...]:
        known = share.known.setdefault(self.name, set())
        defined, wants, forgotten = question(known)
        here, own = self.hands.predictions(rows, self.each), slice(*rows)
        defined = [(n, what, (args[0][here],) if what == "given" else _cut(args, own)) for n, what, args in defined]
        wants = [_cut(want, own) for want in wants]
        known.update(n for n, _, _ in defined)
        known.update(want[2] for want in wants if want[0] == "slope")
        known.difference_update(forgotten)
        return self.name, defined, wants, forgotten

    def __del__(self) -> None:
        for share, _, _ in self.hands.by:
            share.terms.pop(self.name, None)
            share.known.pop(self.name, None)
        self.hands.cluster.forgotten.append(self.name)

    def aligned(self, level: int) -> bool:
        """True if each node of this level has one holder."""
        return all(first % (1 << level) == 0 for _, (first, _), _ in self.hands.by)


def _straggler(holding: Sequence[Share]) -> tuple[Share, float] | None:
    """The slowest worker and how many times as long as the middle one it worked; None where that is not worth telling. Of two the other one is the
    middle one."""
    busy = sorted(s.busy for s in holding)
    middle = busy[(len(busy) - 1) // 2]
    if len(busy) < 2 or busy[-1] <= max(1.0, STRAGGLES * middle):
        return None
    return max(holding, key=lambda s: s.busy), busy[-1] / max(middle, 1e-3)


def _compared(holding: Sequence[Share]) -> str:
    """Whom the slowest worker is compared with, in words."""
    return "the other one" if len(holding) == 2 else "the middle one"


def _these(*args: Any) -> tuple[Any, ...]:
    """The arguments of a question that are the same whoever is asked."""
    return args


def _cut(args: tuple[Any, ...], rows: slice) -> tuple[Any, ...]:
    """The arguments of a question with the rows of one share."""
    return tuple(a.cut(rows) if isinstance(a, OfRows) else a for a in args)


def _own(value: Any) -> Any:
    """A value that sums may be written into: what comes from the network may be read-only, and begin anywhere."""
    if isinstance(value, list | tuple):
        return type(value)(_own(v) for v in value)
    return value.copy() if isinstance(value, np.ndarray) and not value.flags.carray else value


def _raise(failed: Failed, share: Share) -> None:
    if failed.kind == "changed":
        raise ChangedFile(*failed.told)
    if failed.kind == "file":
        what = f"the worker at {share.address} cannot read its rows: {failed.told[0]}"
        raise _refused("FW0243", what, "files lie where every worker has them under the same path")
    what = f"the rows of the worker at {share.address} do not fit into its memory"
    raise _refused("FW0244", what, "start more workers, or workers with more memory")


def _refused(code: str, what: str, hint: str) -> RunError:
    return RunError([Diagnostic(code, what, hint=hint)])


def _silent(error: Exception) -> Lost:
    return Lost(f"the scheduler does not answer any more ({type(error).__name__})")


def _gone(lost: Lost) -> RunError:
    return _refused("FW0241", str(lost), "look at the workers' own messages, and start them again")


def bytes_of(A: Any) -> int:
    """The bytes of a matrix in memory, or of observed entries."""
    return (
        int(A.nbytes) if isinstance(A, np.ndarray | Places) else int(A.data.nbytes + A.indices.nbytes + A.indptr.nbytes)
    )
