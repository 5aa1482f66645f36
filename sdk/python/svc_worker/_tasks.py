"""Tasks of the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

#: The event loop keeps only weak references of tasks.
_running: set[asyncio.Task[Any]] = set()


def spawn(work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
    task = asyncio.ensure_future(work)
    _running.add(task)
    task.add_done_callback(_running.discard)
    return task
