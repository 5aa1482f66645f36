"""Running dispatches, and finished ones for repeats."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ._abort import Abort
from ._job import DispatchKey
from ._receipt import Receipt

REMEMBER_SEC = 600
#: Results remembered for repeats; the oldest are dropped.
MAX_RESULTS = 10_000
#: Total size of the remembered results up to which bodies are sent within the result.
MAX_RESULT_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True)
class StoredResult:
    """A result in its published form."""

    message_id: str
    data: bytes
    trace: Mapping[str, str]


@dataclass
class Running:
    key: DispatchKey
    abort: Abort
    #: Received on a subject shared with other workers.
    is_shared: bool
    #: The message and its repeats, which are renewed and acknowledged together.
    receipts: list[Receipt] = field(default_factory=list)


@dataclass(frozen=True)
class Finished:
    result: StoredResult
    at: float


class Ledger:
    """Finds repeats of a dispatch: running ones, and finished ones for ten minutes, up to a number."""

    def __init__(self) -> None:
        self._running: dict[DispatchKey, Running] = {}
        self._finished: OrderedDict[DispatchKey, Finished] = OrderedDict()
        self._bytes = 0

    def find(self, key: DispatchKey) -> Running | Finished | None:
        return self._running.get(key) or self._finished.get(key)

    def has_room_for(self, size: int) -> bool:
        return self._bytes + size <= MAX_RESULT_BYTES

    def begin(self, running: Running) -> None:
        self._running[running.key] = running

    def finish(self, running: Running, result: StoredResult) -> None:
        self._running.pop(running.key, None)
        self._finished[running.key] = Finished(result, time.monotonic())
        self._bytes += len(result.data)
        self._evict()

    def forget(self, running: Running) -> None:
        """Removes the dispatch, so that the next delivery runs it."""
        self._running.pop(running.key, None)

    def running(self) -> Iterable[Running]:
        return list(self._running.values())

    def _evict(self) -> None:
        oldest_kept = time.monotonic() - REMEMBER_SEC
        while self._finished:
            first = next(iter(self._finished.values()))
            if len(self._finished) <= MAX_RESULTS and first.at >= oldest_kept:
                return
            self._finished.popitem(last=False)
            self._bytes -= len(first.result.data)
