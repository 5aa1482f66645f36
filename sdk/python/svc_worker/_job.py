"""The job that a handler gets."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from ._abort import Abort
from ._errors import FatalError, JobAborted, RetryableError
from ._output import LogLevel
from ._proto import bus_pb2 as pb


class WriteArtifact(Protocol):
    async def __call__(
        self, data: bytes, *, content_type: str, retention: str, labels: Mapping[str, str]
    ) -> str: ...


@dataclass(frozen=True)
class DispatchKey:
    """Identity of a dispatch, which results and repeats are matched by; empty with attempt 0 when unknown."""

    job_id: str
    dispatch_id: str
    attempt: int

    def is_covered_by(self, cancel: pb.JobCancel) -> bool:
        """A cancel with a dispatch id stops that dispatch and older ones, never a newer one."""
        if self.job_id != cancel.job_id:
            return False
        named = cancel.dispatch.dispatch_id
        if not named or not self.dispatch_id:
            return True
        return self.dispatch_id == named or self.attempt < cancel.dispatch.attempt


@dataclass(frozen=True)
class JobPowers:
    """What a job can do, beyond its data."""

    abort: Abort
    progress: Callable[[float, str], None]
    log: Callable[[str, LogLevel], None]
    stream: Callable[[str], None]
    cost: Callable[[float], None]
    write_artifact: WriteArtifact
    effect: Callable[[str, Callable[[], Awaitable[Any] | Any]], Awaitable[Any]]


@dataclass(frozen=True, repr=False)
class Job:
    """A dispatch of a job, passed to a handler."""

    job_id: str
    topic: str
    tenant: str
    trace_id: str
    #: The input document, parsed; None when the job has none, or one behind a pointer of another scheme.
    input: Any
    context_ptr: str
    #: May contain URLs with tokens: never log it.
    env: Mapping[str, str]
    labels: Mapping[str, str]
    #: From 1; 0 when the platform does not count.
    attempt: int
    dispatch_id: str
    #: Limits that policy sets for the job; the handler must apply them.
    constraints: Mapping[str, Any]
    deadline: datetime | None
    adapter_id: str
    memory_id: str
    parent_job_id: str
    workflow_id: str
    principal_id: str
    #: Its lines have the job's id, attempt and trace id.
    logger: logging.LoggerAdapter[logging.Logger]
    _powers: JobPowers = field(compare=False)

    def __repr__(self) -> str:
        return f"Job(job_id={self.job_id!r}, topic={self.topic!r}, attempt={self.attempt}, trace_id={self.trace_id!r})"

    @property
    def prompt(self) -> str:
        """`input["prompt"]` when it is text."""
        prompt = self.input.get("prompt") if isinstance(self.input, dict) else None
        return prompt if isinstance(prompt, str) else ""

    @property
    def context(self) -> Any:
        """`input["context"]`; the whole input when it has no such field."""
        context = self.input.get("context") if isinstance(self.input, dict) else None
        return self.input if context is None else context

    @property
    def is_dry_run(self) -> bool:
        """The handler must have no side effects."""
        return self.env.get("dry_run") == "true"

    @property
    def cancelled(self) -> bool:
        """True once the job must stop: cancelled, late, its lease lost, or the worker stopping."""
        return self._powers.abort.reason is not None

    @property
    def abort_reason(self) -> JobAborted | None:
        """Why the job must stop. A coroutine handler gets asyncio.CancelledError at the same time."""
        return self._powers.abort.reason

    def progress(self, percent: float, message: str = "") -> None:
        """Reports progress. Sends at most one report per second, and always the last one."""
        self._powers.progress(percent, message)

    def log(self, message: str, level: LogLevel = "info") -> None:
        """Writes a log line of the job, which its readers see at once. At most 2,000 characters are kept."""
        self._powers.log(message, level)

    def stream(self, text: str) -> None:
        """Shows the next part of the output to readers before the job ends, such as tokens of a model.

        The result is unaffected.
        """
        self._powers.stream(text)

    def cost(self, usd: float) -> None:
        """Reports the cost of the job in US dollars; calls add up, and failed jobs count too. Raises ValueError."""
        self._powers.cost(usd)

    async def effect(self, key: str, make: Callable[[], Awaitable[Any] | Any]) -> Any:
        """Makes a side effect at most once for all attempts of the job, and returns its result.

        Also when an earlier attempt made it. The result must be JSON of at most 16 KiB. `key` names the effect within the job.
        Raises FatalError `outcome_unknown` when an earlier attempt may have made it, and RetryableError when it cannot be
        recorded. See docs/reference/effects.md.
        """
        return await self._powers.effect(key, make)

    async def save_artifact(
        self,
        data: bytes,
        *,
        content_type: str = "application/octet-stream",
        retention: str = "standard",
        labels: Mapping[str, str] | None = None,
    ) -> str:
        """Stores a file of the job and lists it in the result.

        retention: `short` (24 hours), `standard` (7 days) or `audit` (30 days). Returns the pointer of the artifact.
        """
        limit = self.env.get("SVC_MAX_ARTIFACT_BYTES", "")
        if limit.isdecimal() and 0 < int(limit) < len(data):
            raise FatalError(f"artifact of {len(data)} bytes, allowed are {limit}", code="artifact_too_large")
        self._powers.abort.check()
        # Withheld together with the job's output if that is quarantined.
        all_labels = {**(labels or {}), "job_id": self.job_id}
        return await self._powers.write_artifact(
            data, content_type=content_type, retention=retention, labels=all_labels
        )


def read_constraints(text: str) -> Mapping[str, Any]:
    """An unreadable limit must not be treated as no limit."""
    if not text:
        return {}
    try:
        constraints = json.loads(text)
    except ValueError as error:
        raise RetryableError(
            "the constraints of this job cannot be read", code="constraints_unreadable"
        ) from error
    return constraints if isinstance(constraints, dict) else {}
