"""Options of a worker and their defaults."""

from __future__ import annotations

import os
import re
import signal
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Union
from urllib.parse import urlsplit, urlunsplit

from ._grants import GrantOptions, Grants
from ._wire import TOPIC, WORKER_ID

if TYPE_CHECKING:
    from ._job import Job

#: Handles the jobs of a topic. The return value is the result: bytes as is, anything else as JSON, None for no result.
#: A plain function runs in a thread; it should check `job.cancelled`.
JobHandler = Callable[["Job"], Union[Awaitable[Any], Any]]


@dataclass(frozen=True)
class WorkerOptions:
    """Options of a worker. Credentials never appear in its text form."""

    #: Handlers by topic; `*` stands for one token of a topic, `>` for the rest.
    topics: Mapping[str, JobHandler]
    #: Default: SVC_POOL, else `default`.
    pool: str = ""
    #: Stable across restarts. Default: WORKER_ID, else `<type>-<host name>`. Letters, digits, `_` and `-`.
    id: str = ""
    #: Maximum concurrent jobs.
    concurrency: int = 1
    #: May contain user and password, and several servers separated by commas. Without credentials here and in
    #: `nats_options`, the worker connects with its id and `auth_token`. Default: NATS_URL, else localhost.
    nats_url: str = field(default="", repr=False)
    #: Default: REDIS_URL. Without either, data goes through the data URLs of each dispatch. `auth_token` is the password
    #: of a user without one, as in `redis://worker-<id>@host`.
    redis_url: str = field(default="", repr=False)
    #: Further options of `nats.connect`, such as tls, token or nkeys_seed.
    nats_options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    #: Queue group of the topic subjects, shared by the pool; default: one group per subject.
    queue_group: str = ""
    #: Capabilities that jobs can require.
    capabilities: Sequence[str] = ()
    #: Placement labels.
    labels: Mapping[str, str] = field(default_factory=dict)
    #: Informational, such as `cpu`, `gpu` or `llm`.
    type: str = "cpu"
    region: str = ""
    #: Display name.
    agent_name: str = ""
    #: Credential of the worker, when the deployment attests its workers. Default: WORKER_TOKEN.
    auth_token: str = field(default="", repr=False)
    #: P-256 private key (PEM) with which the worker signs its packets. Default: WORKER_SIGNING_KEY.
    signing_key: str = field(default="", repr=False)
    #: P-256 public keys (PEM) of the services. When given, dispatches and cancels without a valid signature of one of them
    #: are refused. Default: those in SVC_SERVICE_PUBLIC_KEYS, one after the other.
    service_keys: Sequence[str] = ()
    #: Dispatches that the worker starts, by the grants that the services sign.
    grants: GrantOptions = GrantOptions()
    #: Requests the URL that `job.effect` needs also with a Redis URL. Without one each dispatch has it, where the
    #: installation has data URLs.
    effects: bool = False
    #: Gets a session when both `signing_key` and `service_keys` are given. Off where the services have no sessions.
    sessions: bool = True
    #: Prefix of the domains of the handshake, as in SVC_HANDSHAKE_DOMAIN_PREFIX of the services.
    handshake_domain_prefix: str = "SVC"
    heartbeat_sec: float = 5.0
    #: Grace period for aborted jobs and for shutdown.
    grace_sec: float = 10.0
    #: Ack wait, after which a message without renewal is redelivered.
    ack_wait_sec: float = 60.0
    #: Deliveries of a dispatch after which it ends FAILED_FATAL without a run.
    max_deliveries: int = 5
    #: Retention of results in Redis.
    result_ttl_sec: int = 86_400
    #: Largest input, result and artifact. A larger one ends the job FAILED_FATAL.
    max_body_bytes: int = 64 * 1024 * 1024
    #: Off: core NATS, without redelivery. Default: on unless NATS_USE_JETSTREAM is 0 or false.
    jetstream: bool | None = None
    #: Signals on which `run` and `serve` drain and stop.
    signals: Sequence[int] = (signal.SIGTERM, signal.SIGINT)

    def resolved(self, env: Mapping[str, str] = os.environ) -> WorkerOptions:
        """With all defaults. Raises ValueError naming the invalid option."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        host = re.sub(r"[^A-Za-z0-9_-]", "-", socket.gethostname())
        values["id"] = self.id or env.get("WORKER_ID", "") or f"{self.type}-{host}"
        values["pool"] = self.pool or env.get("SVC_POOL", "") or "default"
        values["nats_url"] = self.nats_url or env.get("NATS_URL", "") or "nats://localhost:4222"
        values["redis_url"] = self.redis_url or env.get("REDIS_URL", "")
        values["auth_token"] = self.auth_token or env.get("WORKER_TOKEN", "")
        values["redis_url"] = add_password(values["redis_url"], values["auth_token"])
        values["signing_key"] = self.signing_key or env.get("WORKER_SIGNING_KEY", "")
        values["service_keys"] = self.service_keys or split_keys(env.get("SVC_SERVICE_PUBLIC_KEYS", ""))
        values["grants"] = resolve_grants(self.grants, env)
        if self.jetstream is None:
            values["jetstream"] = env.get("NATS_USE_JETSTREAM", "1").lower() not in ("0", "false")
        options = WorkerOptions(**values)
        options._check()
        return options

    def _check(self) -> None:
        if not WORKER_ID.match(self.id):
            raise ValueError(
                f'worker id "{self.id}" cannot be used: it becomes part of a bus subject, so only letters, digits, _ '
                "and - (at most 128)"
            )
        invalid = next((topic for topic in self.topics if topic == "job" or not TOPIC.match(topic)), None)
        if invalid is not None or not self.topics:
            raise ValueError(f'topics must name at least one topic beginning "job.", not "{invalid or ""}"')
        if isinstance(self.concurrency, bool) or not isinstance(self.concurrency, int) or self.concurrency < 1:
            raise ValueError("concurrency must be a whole number from 1")


def resolve_grants(grants: GrantOptions, env: Mapping[str, str]) -> GrantOptions:
    """With all defaults. Raises ValueError naming the invalid option."""
    keys = tuple(grants.keys) or tuple(split_keys(env.get("SVC_GRANT_PUBLIC_KEYS", "")))
    mode = grants.mode or env.get("WORKER_GRANTS", "") or ("enforce" if keys else "off")
    if mode not in ("off", "warn", "enforce"):
        raise ValueError(f'WORKER_GRANTS must be off, warn or enforce, not "{mode}"')
    if mode != "off" and not keys:
        raise ValueError(f"grants.mode is {mode}, which needs grants.keys")
    resolved = replace(grants, keys=keys, mode=mode)
    Grants(resolved, "")
    return resolved


def add_password(redis_url: str, token: str) -> str:
    """The token is the password of a user without one.

    Not of a URL without a user: a Redis without users refuses passwords.
    """
    parts = urlsplit(redis_url)
    if not token or not parts.username or parts.password is not None:
        return redis_url
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{parts.username}:{token}@{host}"))


KEY_END = "-----END PUBLIC KEY-----"


def split_keys(text: str) -> list[str]:
    """Keys in PEM that follow each other."""
    return [part + KEY_END for part in text.split(KEY_END) if part.strip()]
