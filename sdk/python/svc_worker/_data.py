"""Reads inputs and stores results and artifacts: in Redis, or through the data URLs of a dispatch."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Awaitable, Mapping
from typing import Any, Protocol, TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from ._abort import Abort
from ._errors import FatalError, RetryableError
from ._proto import bus_pb2 as pb

SCHEME = "redis://"
DEFAULT_REDIS_URL = "redis://localhost:6379"
RETENTION_SEC = {"short": 86_400, "standard": 7 * 86_400, "audit": 30 * 86_400}
MAX_TRIES = 5
FIRST_PAUSE_SEC = 0.2
ANSWER_TIMEOUT_SEC = 30
TRANSIENT = frozenset({408, 429, 500, 502, 503, 504})

T = TypeVar("T")


class JobData(Protocol):
    """The data of one dispatch."""

    async def read_context(self, pointer: str, ref: pb.ResourceRef | None) -> Any:
        """The document behind a pointer: parsed when it is JSON, else its text; None for pointers of another scheme."""

    async def write_result(self, body: bytes) -> str:
        """Returns the pointer of the result."""

    async def write_artifact(
        self, data: bytes, *, content_type: str, retention: str, labels: Mapping[str, str]
    ) -> str:
        """Returns the pointer of the artifact."""


class DataAccess:
    """Selects the store of a dispatch: Redis when configured, otherwise its data URLs."""

    def __init__(self, redis_url: str, result_ttl_sec: int, max_bytes: int) -> None:
        self._redis_url = redis_url
        self._result_ttl_sec = result_ttl_sec
        self._max_bytes = max_bytes
        self._redis: Any = _connect(redis_url) if redis_url else None

    def of(self, request: pb.JobRequest, abort: Abort) -> JobData:
        if not self._redis_url and request.env.get("SVC_RESULT_URL"):
            return UrlData(request.env, abort, self._max_bytes)
        if self._redis is None:
            self._redis = _connect(DEFAULT_REDIS_URL)
        return _RedisData(self._redis, request, self._result_ttl_sec, self._max_bytes)

    async def close(self) -> None:
        if self._redis is not None:
            await self._redis.aclose()


def _connect(url: str) -> Any:
    try:
        from redis import asyncio as redis
    except ImportError as error:
        raise RuntimeError(
            "Redis is used for inputs and results, and the package `redis` is not installed: "
            "install svc-worker-sdk[redis], or unset REDIS_URL and use data URLs"
        ) from error
    return redis.from_url(url, socket_timeout=10, socket_connect_timeout=10, health_check_interval=30)


class _RedisData:
    def __init__(self, redis: Any, request: pb.JobRequest, result_ttl_sec: int, max_bytes: int) -> None:
        self._redis = redis
        self._job_id = request.job_id
        self._tenant = request.tenant_id
        self._result_ttl_sec = result_ttl_sec
        self._max_bytes = max_bytes

    async def read_context(self, pointer: str, ref: pb.ResourceRef | None) -> Any:
        if not pointer.startswith(SCHEME):
            return None
        key = pointer.removeprefix(SCHEME)
        # The size is read first, so that an input above the limit is never loaded.
        size = await _attempt(self._redis.strlen(key))
        if size > self._max_bytes:
            raise too_large("input", size, self._max_bytes)
        body = await _attempt(self._redis.get(key))
        if body is None:
            raise context_missing()
        return parse_context(body, ref)

    async def write_result(self, body: bytes) -> str:
        key = f"res:{self._job_id}"
        await _attempt(self._redis.set(key, body, ex=self._result_ttl_sec))
        return SCHEME + key

    async def write_artifact(
        self, data: bytes, *, content_type: str, retention: str, labels: Mapping[str, str]
    ) -> str:
        if retention not in RETENTION_SEC:
            raise ValueError(f"retention must be one of {', '.join(RETENTION_SEC)}")
        name = str(uuid.uuid4())
        metadata = {
            "content_type": content_type,
            "size_bytes": len(data),
            "retention": retention,
            "labels": {**labels, "tenant_id": self._tenant},
            "created_at": time.time_ns() // 1_000,
            "tenant": self._tenant,
        }
        ttl = RETENTION_SEC[retention]
        writes = self._redis.pipeline(transaction=True)
        writes.set(f"art:{name}", data, ex=ttl)
        writes.set(f"art:meta:{name}", json.dumps(metadata), ex=ttl)
        await _attempt(writes.execute())
        return f"{SCHEME}art:{name}"


async def _attempt(command: Awaitable[T]) -> T:
    from redis.exceptions import RedisError

    try:
        return await command
    except (RedisError, OSError, asyncio.TimeoutError) as error:
        raise RetryableError("the store did not answer", code="store_unavailable") from error


class UrlData:
    """Through the gateway. Error messages never contain a URL, because its token is a credential."""

    def __init__(self, env: Mapping[str, str], abort: Abort, max_bytes: int) -> None:
        self._env = env
        self._abort = abort
        self._max_bytes = max_bytes

    async def read_context(self, pointer: str, ref: pb.ResourceRef | None) -> Any:
        if not pointer.startswith(SCHEME):
            return None
        return parse_context(await self._send("SVC_INPUT_URL", "GET"), ref)

    async def write_result(self, body: bytes) -> str:
        return _pointer(await self._send("SVC_RESULT_URL", "PUT", body), "result_ptr")

    async def write_artifact(
        self, data: bytes, *, content_type: str, retention: str, labels: Mapping[str, str]
    ) -> str:
        query = {"content_type": content_type, "retention": retention, "labels": json.dumps(dict(labels))}
        return _pointer(await self._send("SVC_ARTIFACT_URL", "POST", data, query), "artifact_ptr")

    async def send_json(self, name: str, body: bytes) -> bytes:
        return await self._send(name, "POST", body, media_type="application/json")

    async def _send(
        self,
        name: str,
        method: str,
        body: bytes | None = None,
        query: Mapping[str, str] | None = None,
        media_type: str = "application/octet-stream",
    ) -> bytes:
        url = urlsplit(self._env.get(name, ""))
        if url.scheme not in ("http", "https") or not url.netloc:
            raise RetryableError(f"{name} of this dispatch is no URL", code="data_url_missing")
        parameters = urlencode(parse_qsl(url.query, keep_blank_values=True) + list((query or {}).items()))
        target = urlunsplit(url._replace(query=parameters))
        tries = 1
        while True:
            self._abort.check()
            status, answer = await asyncio.to_thread(_request, target, method, body, self._max_bytes, media_type)
            if 200 <= status < 300:
                return answer
            if status not in TRANSIENT or tries == MAX_TRIES:
                raise _refusal(status, answer)
            await asyncio.sleep(FIRST_PAUSE_SEC * 2 ** (tries - 1))
            tries += 1


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would leak the token."""

    def redirect_request(self, *_: Any) -> None:
        return None


_opener = urllib.request.build_opener(_NoRedirect)


def _request(
    url: str, method: str, body: bytes | None, max_bytes: int, media_type: str
) -> tuple[int, bytes]:
    headers = {"Content-Type": media_type} if body is not None else {}
    request = urllib.request.Request(url, data=body, method=method, headers=headers)
    try:
        with _opener.open(request, timeout=ANSWER_TIMEOUT_SEC) as answer:
            data = answer.read(max_bytes + 1)
            if len(data) > max_bytes:
                raise too_large("input", len(data), max_bytes)
            return answer.status, data
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read(64 * 1024)
    except (OSError, ValueError):
        return 503, b""


def _refusal(status: int, answer: bytes) -> Exception:
    try:
        details = json.loads(answer)
    except ValueError:
        details = {}
    code = details.get("code") if isinstance(details, dict) else None
    reason = details.get("error") if isinstance(details, dict) else None
    if code == "input_not_found":
        return context_missing()
    why = reason if isinstance(reason, str) else f"status {status}"
    if status in TRANSIENT:
        return RetryableError(f"the gateway did not answer: {why}", code="store_unavailable")
    message = f"the gateway refused the data of this job: {why}"
    # A retry cannot fix a body that is too large.
    if status == 413:
        return FatalError(message, code=code if isinstance(code, str) else "request_too_large")
    return RetryableError(message, code=code if isinstance(code, str) else "data_url_refused")


def _pointer(answer: bytes, field: str) -> str:
    try:
        pointer = json.loads(answer).get(field)
    except (ValueError, AttributeError):
        pointer = None
    if isinstance(pointer, str) and pointer:
        return pointer
    raise RetryableError("the gateway answered without a pointer", code="data_url_refused")


def too_large(what: str, size: int, limit: int) -> FatalError:
    typed = pb.ERROR_CODE_INVALID_INPUT if what == "input" else pb.ERROR_CODE_RESOURCE_EXHAUSTED
    return FatalError(f"the {what} has {size} bytes, allowed are {limit}", code=f"{what}_too_large", error_code=typed)


def context_missing() -> FatalError:
    return FatalError(
        "the context of this job is not in the store", code="context_missing", error_code=pb.ERROR_CODE_NOT_FOUND
    )


def parse_context(body: bytes, ref: pb.ResourceRef | None) -> Any:
    """Raises FatalError when the document differs from the reference."""
    if ref is not None:
        _verify(body, ref)
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return body.decode("utf-8", "replace")


def _verify(body: bytes, ref: pb.ResourceRef) -> None:
    fault = ""
    if ref.sha256 and len(ref.sha256) != 32:
        fault = f"sha256 has {len(ref.sha256)} bytes instead of 32"
    elif ref.size_bytes and ref.size_bytes != len(body):
        fault = f"the content has {len(body)} bytes, the reference says {ref.size_bytes}"
    elif ref.sha256 and hashlib.sha256(body).digest() != ref.sha256:
        fault = "the content has another SHA-256 than the reference"
    if fault:
        raise FatalError(
            f"context_ref: {fault}", code="integrity_check_failed", error_code=pb.ERROR_CODE_INVALID_INPUT
        )
