"""Renewal of messages."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from ._errors import JobAborted
from ._ledger import Ledger
from ._receipt import Receipt
from ._tasks import spawn


class LeaseRenewer:
    """Renews the lease of messages three times per ack wait, and detects missed renewals.

    A message whose lease was not renewed may be with another worker, and this one must stop.
    """

    def __init__(self, ledger: Ledger, ack_wait_sec: float, is_connected: Callable[[], bool]) -> None:
        self._ledger = ledger
        self._ack_wait_sec = ack_wait_sec
        self._is_connected = is_connected
        self._held: list[Receipt] = []
        self._last_tick = self._last_contact = time.monotonic()
        self._task = spawn(self._run())

    async def hold(self, receipt: Receipt, until: Awaitable[bool]) -> bool:
        """Renews a message that waits for a slot."""
        self._held.append(receipt)
        try:
            return await until
        finally:
            self._held.remove(receipt)

    def check(self) -> None:
        """Aborts jobs whose lease may be lost.

        After a pause of the process these are all; while NATS is unreachable only those of shared subjects, because no
        other worker gets messages of this worker's own subject.
        """
        now = time.monotonic()
        was_paused = now - self._last_tick > self._ack_wait_sec
        is_out_of_touch = now - self._last_contact > self._ack_wait_sec
        for running in self._ledger.running():
            if was_paused or (is_out_of_touch and running.is_shared):
                running.abort.abort(JobAborted("lease_lost", "the message of this job may be with another worker"))

    def stop(self) -> None:
        self._task.cancel()

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(self._ack_wait_sec / 3)
            self.check()
            self._last_tick = time.monotonic()
            if not self._is_connected():
                continue
            self._last_contact = self._last_tick
            receipts = [receipt for running in self._ledger.running() for receipt in running.receipts]
            for receipt in receipts + self._held:
                await receipt.working()
