"""Serve jobs of the control plane. See README.md of this package and docs/reference/worker-protocol.md."""

from ._errors import DeniedError, FatalError, JobAborted, JobError, NotAppliedError, RetryableError
from ._grants import GrantOptions
from ._job import Job
from ._options import WorkerOptions
from ._version import __version__
from ._worker import Worker

__all__ = [
    "DeniedError",
    "FatalError",
    "GrantOptions",
    "Job",
    "JobAborted",
    "JobError",
    "NotAppliedError",
    "RetryableError",
    "Worker",
    "WorkerOptions",
    "__version__",
]
