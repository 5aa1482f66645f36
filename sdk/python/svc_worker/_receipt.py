"""Acknowledgement of a message."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Protocol

import nats.errors
import nats.js.errors
from nats.aio.msg import Msg


class Receipt(Protocol):
    async def ack(self) -> None: ...
    async def nak(self, delay_sec: float | None = None) -> None: ...
    async def term(self) -> None: ...
    async def working(self) -> None: ...


class NoReceipt:
    """Core NATS has no acknowledgements."""

    async def ack(self) -> None: ...
    async def nak(self, delay_sec: float | None = None) -> None: ...
    async def term(self) -> None: ...
    async def working(self) -> None: ...


class StreamReceipt:
    """Of a message of a stream. A lost acknowledgement leads to a redelivery, so failures are ignored."""

    def __init__(self, message: Msg) -> None:
        self._message = message

    async def ack(self) -> None:
        await _attempt(self._message.ack())

    async def nak(self, delay_sec: float | None = None) -> None:
        await _attempt(self._message.nak(delay=delay_sec))

    async def term(self) -> None:
        await _attempt(self._message.term())

    async def working(self) -> None:
        await _attempt(self._message.in_progress())


async def _attempt(answer: Awaitable[None]) -> None:
    try:
        await answer
    except (nats.errors.Error, nats.js.errors.Error, asyncio.TimeoutError, OSError):
        pass
