"""Progress reports."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable

EVERY_SEC = 1.0


class ProgressReports:
    """Sends at most one report per second, and always the last one. May be called from any thread."""

    def __init__(self, send: Callable[[int, str], object]) -> None:
        self._send = send
        self._loop = asyncio.get_running_loop()
        self._waiting: tuple[int, str] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._last_at = -math.inf
        self._is_over = False

    def report(self, percent: float, message: str = "") -> None:
        bounded = 0 if math.isnan(percent) else round(min(100.0, max(0.0, percent)))
        self._loop.call_soon_threadsafe(self._accept, bounded, message)

    def finish(self) -> tuple[int, str] | None:
        """Ends the reports, because the result is next. Returns the last one, which the caller sends."""
        self._is_over = True
        if self._timer is not None:
            self._timer.cancel()
        return self._waiting

    def _accept(self, percent: int, message: str) -> None:
        if self._is_over:
            return
        self._waiting = (percent, message)
        wait = self._last_at + EVERY_SEC - time.monotonic()
        if wait <= 0:
            self._flush()
        elif self._timer is None:
            self._timer = self._loop.call_later(wait, self._flush)

    def _flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._waiting is not None:
            waiting, self._waiting = self._waiting, None
            self._last_at = time.monotonic()
            self._send(*waiting)
