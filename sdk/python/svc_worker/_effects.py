"""Side effects of a dispatch, recorded before and after they are made. See docs/reference/effects.md."""

from __future__ import annotations

import asyncio
import inspect
import json
import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from ._abort import Abort
from ._data import UrlData
from ._errors import FatalError, JobError, NotAppliedError, RetryableError

URL_NAME = "SVC_EFFECT_URL"
MAX_KEY_CHARS = 200
MAX_RESULT_BYTES = 16_384
MAX_ANSWER_BYTES = 64 * 1024

Make = Callable[[], "Awaitable[Any] | Any"]


class Effects:
    def __init__(self, env: Mapping[str, str], abort: Abort) -> None:
        self._env = env
        self._abort = abort
        #: Concurrent calls with the same key share one.
        self._running: dict[str, asyncio.Future[Any]] = {}

    async def run(self, key: str, make: Make) -> Any:
        """Raises FatalError `outcome_unknown` when an earlier attempt began it and its outcome is not known."""
        running = self._running.get(key)
        if running is None:
            running = self._running[key] = asyncio.ensure_future(self._make(key, make))
        return await running

    async def _make(self, key: str, make: Make) -> Any:
        if not 0 < len(key) <= MAX_KEY_CHARS:
            raise FatalError(f"the key of an effect has 1 to {MAX_KEY_CHARS} characters", code="effect_key_invalid")
        if not self._env.get(URL_NAME):
            raise FatalError(
                f"effects cannot be recorded: the dispatch has no {URL_NAME}", code="effects_unavailable"
            )
        call = secrets.token_hex(16)
        known = await self._report(self._abort, {"op": "begin", "key": key, "call": call})
        if known.get("state") == "unknown":
            message = f"the outcome of the effect {key} is unknown; an operator must settle it"
            raise FatalError(message, code="outcome_unknown")
        if known.get("state") != "begun":
            return json.loads(known["result"]) if "result" in known else None
        self._abort.check()
        try:
            value = make()
            if inspect.isawaitable(value):
                value = await value
        except NotAppliedError:
            # Any other error leaves the outcome open: a request that timed out may have been executed.
            await self._finish({"op": "abandon", "key": key, "call": call})
            raise
        text = None if value is None else json.dumps(value, allow_nan=False, separators=(",", ":"))
        fits = text is None or len(text.encode()) <= MAX_RESULT_BYTES
        result = {"result": text} if text is not None and fits else {}
        await self._finish({"op": "finish", "key": key, "call": call, **result})
        if not fits:
            message = f"the result of the effect {key} has more than {MAX_RESULT_BYTES} bytes"
            raise FatalError(message, code="effect_result_too_large")
        return value

    async def _finish(self, report: Mapping[str, str]) -> None:
        """Also after the job was aborted, so that its outcome is known."""
        try:
            await asyncio.shield(self._report(Abort(), report))
        except JobError as error:
            message = f"the end of the effect {report['key']} was not recorded"
            raise RetryableError(message, code="effect_not_recorded") from error

    async def _report(self, abort: Abort, report: Mapping[str, str]) -> Mapping[str, Any]:
        data = UrlData(self._env, abort, MAX_ANSWER_BYTES)
        answer = json.loads(await data.send_json(URL_NAME, json.dumps(report).encode()))
        return answer if isinstance(answer, dict) else {}
