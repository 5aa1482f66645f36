"""Errors that set the status of a job, and their results. See docs/reference/worker-protocol.md#results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ._proto import bus_pb2 as pb

AbortCause = Literal["cancelled", "deadline", "lease_lost", "shutdown"]

LONGEST_MESSAGE = 2_000


class JobError(Exception):
    """A failure with a code of its own. Raise one of its subclasses.

    code: the application's own text code; retry rules match it.
    error_code: the typed code, also one of the application's from 1000 to 9999.
    """

    status = pb.JOB_STATUS_FAILED

    def __init__(self, message: str, *, code: str = "", error_code: int = 0) -> None:
        super().__init__(message)
        self.code = code
        self.error_code = error_code


class RetryableError(JobError):
    """A retry may succeed: the job ends FAILED_RETRYABLE."""

    status = pb.JOB_STATUS_FAILED_RETRYABLE


class NotAppliedError(RetryableError):
    """Raised by the function of an effect: it certainly did not happen, so the next attempt may make it.

    Any other error leaves its outcome unknown. The job ends FAILED_RETRYABLE.
    """


class FatalError(JobError):
    """No retry can help: the job ends FAILED_FATAL."""

    status = pb.JOB_STATUS_FAILED_FATAL


class DeniedError(JobError):
    """The worker rejects the job by its own policy: the job ends DENIED."""

    status = pb.JOB_STATUS_DENIED


class JobAborted(Exception):
    """Why a job was stopped; `job.abort_reason`."""

    def __init__(self, cause: AbortCause, message: str, grace_sec: float | None = None) -> None:
        super().__init__(message)
        self.cause = cause
        self.grace_sec = grace_sec


@dataclass(frozen=True)
class Failure:
    status: pb.JobStatus
    error_code: str
    error_message: str
    error_code_enum: int


_ABORTS: dict[AbortCause, tuple[pb.JobStatus, str, int]] = {
    "cancelled": (pb.JOB_STATUS_CANCELLED, "cancelled", 0),
    "deadline": (pb.JOB_STATUS_TIMEOUT, "timeout", pb.ERROR_CODE_JOB_TIMEOUT),
    "lease_lost": (pb.JOB_STATUS_FAILED_RETRYABLE, "lease_lost", pb.ERROR_CODE_CONNECTION_LOST),
    "shutdown": (pb.JOB_STATUS_FAILED_RETRYABLE, "worker_shutdown", pb.ERROR_CODE_WORKER_UNAVAILABLE),
}


def to_failure(error: BaseException) -> Failure:
    """The result of a job that ended with this error."""
    message = well_formed(str(error) or type(error).__name__)[:LONGEST_MESSAGE]
    if isinstance(error, JobAborted):
        status, code, typed = _ABORTS[error.cause]
        return Failure(status, code, message, typed)
    if isinstance(error, JobError):
        typed = error.error_code
        if typed == 0 and isinstance(error, DeniedError):
            typed = pb.ERROR_CODE_PERMISSION_DENIED
        return Failure(error.status, well_formed(error.code), message, typed)
    return Failure(pb.JOB_STATUS_FAILED, "", message, 0)


def well_formed(text: str) -> str:
    """Without lone surrogates, which UTF-8 does not allow."""
    return text.encode("utf-8", "replace").decode("utf-8")
