"""Stopping of one run."""

from __future__ import annotations

import asyncio
from typing import Any

from ._errors import JobAborted


class Abort:
    """The abort of one run: cancels the handler's task, and bounds how long the worker waits for it."""

    def __init__(self) -> None:
        self.reason: JobAborted | None = None
        self._aborted: asyncio.Event = asyncio.Event()

    def abort(self, reason: JobAborted) -> None:
        """The first reason counts."""
        if self.reason is None:
            self.reason = reason
            self._aborted.set()

    def check(self) -> None:
        if self.reason is not None:
            raise self.reason

    async def within_grace(self, work: asyncio.Task[Any], grace_sec: float) -> Any:
        """Waits for the handler. After an abort, its task is cancelled and gets at most the grace period.

        Raises what the handler raises; JobAborted when it does not end in time, or ends because of the abort.
        """
        aborted = asyncio.ensure_future(self._aborted.wait())
        try:
            await asyncio.wait({work, aborted}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done() and self.reason is not None:
                work.cancel()
                grace = grace_sec if self.reason.grace_sec is None else self.reason.grace_sec
                await asyncio.wait({work}, timeout=grace)
            if not work.done():
                # Left to itself: its outcome no longer counts, and is retrieved so that it is not reported.
                work.add_done_callback(_ignore)
            if not work.done() or work.cancelled():
                self.check()
                raise RuntimeError("the handler was cancelled from within")
            return work.result()
        finally:
            aborted.cancel()


def _ignore(task: asyncio.Task[Any]) -> None:
    if not task.cancelled():
        task.exception()
