"""Slots for concurrent jobs."""

from __future__ import annotations

import asyncio


class Slots:
    def __init__(self, size: int) -> None:
        self._size = size
        self._taken = 0
        self._closed = False
        self._changed = asyncio.Condition()

    @property
    def in_use(self) -> int:
        return self._taken

    def try_take(self) -> bool:
        if self._closed or self._taken >= self._size:
            return False
        self._taken += 1
        return True

    async def take(self) -> bool:
        """Returns whether a slot was acquired; False when closed."""
        await self.when_free()
        while not self._closed:
            if self.try_take():
                return True
            await self.when_free()
        return False

    async def when_free(self) -> None:
        """Returns when a slot is free, which another caller may take first, or when the slots are closed."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._closed or self._taken < self._size)

    async def when_idle(self) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: self._taken == 0)

    async def free(self) -> None:
        async with self._changed:
            self._taken -= 1
            self._changed.notify_all()

    async def close(self) -> None:
        """Grants no more slots, and releases all waiters."""
        async with self._changed:
            self._closed = True
            self._changed.notify_all()
