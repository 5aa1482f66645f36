"""NATS connection of a worker: publishes and consumers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

import nats
import nats.errors
import nats.js.errors
from nats.aio.client import Client
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy
from nats.js.client import JetStreamContext

from . import _wire as wire
from ._ledger import StoredResult
from ._options import WorkerOptions
from ._proto import bus_pb2 as pb
from ._session import SessionKeeper
from ._trust import PacketTrust

log = logging.getLogger("svc_worker")

STORE_TIMEOUT_SEC = 2.0
FLUSH_TIMEOUT_SEC = 2
KEEP_IDLE_CONSUMER_SEC = 7 * 86_400.0


class Forbidden(Exception):
    """The NATS user may not create the consumer."""


def trace_headers(headers: Mapping[str, str] | None) -> dict[str, str]:
    """W3C trace context of a message."""
    return {name: headers[name] for name in ("traceparent", "tracestate") if headers and headers.get(name)}


def parse_servers(text: str) -> tuple[list[str], dict[str, str]]:
    """The servers of a list, and the credentials of the first that has some; apart, so that no URL contains them."""
    credentials: dict[str, str] = {}
    servers = []
    for entry in filter(None, (part.strip() for part in text.split(","))):
        url = urlsplit(entry if "://" in entry else f"nats://{entry}")
        if url.username and not credentials:
            user = unquote(url.username)
            credentials = (
                {"token": user} if url.password is None else {"user": user, "password": unquote(url.password)}
            )
        servers.append(f"{url.scheme}://{url.netloc.rpartition('@')[2]}")
    return servers, credentials


class Link:
    def __init__(self, options: WorkerOptions) -> None:
        self._options = options
        self._forbidden: list[str] = []
        #: Connects as the worker of its credential, so the services have created its consumer.
        self._has_own_account = False
        self.is_connected = False
        self.closed = asyncio.Event()
        self.on_reconnect: Callable[[], None] = lambda: None
        self.client = Client()
        self._js: JetStreamContext | None = None
        try:
            self.trust = PacketTrust(options.signing_key, options.service_keys)
        except ValueError:
            # Without the cause, which may contain a part of a key.
            raise ValueError("signing_key and service_keys must be P-256 keys in PEM") from None
        #: None when the worker or the services cannot prove who they are.
        self.session: SessionKeeper | None = None
        if options.sessions and self.trust.proves_both:
            prefix = options.handshake_domain_prefix
            self.session = SessionKeeper(options.id, prefix, lambda: self.client, self.trust)

    async def open(self) -> None:
        servers, credentials = parse_servers(self._options.nats_url)
        own = dict(self._options.nats_options)
        if any(name in own for name in ("user", "token", "nkeys_seed", "user_credentials", "user_jwt_cb")):
            credentials = {}
        elif not credentials and self._options.auth_token:
            # A server that needs no credentials ignores these.
            credentials = {"user": self._options.id, "password": self._options.auth_token}
            self._has_own_account = True
        settings: dict[str, Any] = {
            "servers": servers,
            "name": self._options.id,
            "max_reconnect_attempts": -1,
            "reconnect_time_wait": 2,
            "ping_interval": 30,
            **credentials,
            **own,
        }
        self.client = await nats.connect(
            **settings,
            error_cb=self._on_error,
            disconnected_cb=self._on_disconnect,
            reconnected_cb=self._on_reconnect,
            closed_cb=self._on_close,
        )
        self._js = self.client.jetstream()
        self.is_connected = True

    async def close(self) -> None:
        """Flushes and closes. No publish may be pending."""
        if self.session is not None:
            self.session.stop()
        # Without a connection yet, the client has nothing to flush.
        if self._js is None or self.client.is_closed:
            return
        try:
            # Not `drain`, which waits for messages that are no longer read.
            await self.client.flush(timeout=FLUSH_TIMEOUT_SEC)
        except (nats.errors.Error, asyncio.TimeoutError, OSError):
            pass
        await self.client.close()

    def new_packet(self, trace_id: str) -> pb.BusPacket:
        token = self.session.token if self.session is not None else ""
        return wire.new_packet(self._options.id, trace_id, token or self._options.auth_token)

    async def send(self, subject: str, packet: pb.BusPacket) -> None:
        """Publishes on core NATS, without confirmation."""
        if self.client.is_closed:
            return
        try:
            await self.client.publish(subject, self.trust.seal(packet))
        except (nats.errors.Error, OSError) as error:
            log.warning("publishing on %s: %s", subject, type(error).__name__)

    async def store(self, result: StoredResult) -> None:
        """Stores a result in its stream; publishes on core NATS when no stream has the subject."""
        headers = {**result.trace, wire.MESSAGE_ID_HEADER: result.message_id}
        if self._options.jetstream:
            try:
                await self.jetstream.publish(wire.JOB_RESULT, result.data, STORE_TIMEOUT_SEC, headers=headers)
                return
            except nats.js.errors.NoStreamResponseError:
                pass
        await self.client.publish(wire.JOB_RESULT, result.data, headers=headers)
        await self.client.flush()

    @property
    def jetstream(self) -> JetStreamContext:
        if self._js is None:
            raise RuntimeError("not connected")
        return self._js

    async def consumer(self, subject: str, group: str) -> JetStreamContext.PullSubscription:
        """Creates the durable consumer if it is missing.

        A new one starts with new messages, because earlier ones were sent to other workers. The consumer of a worker that
        connects with its credential is created by the services. Raises Forbidden.
        """
        durable = wire.durable_name(group, subject)
        is_own = subject == wire.worker_subject(self._options.id)
        if is_own and self._has_own_account and await self._exists(durable):
            return await self.jetstream.pull_subscribe_bind(durable, wire.JOBS_STREAM)
        config = ConsumerConfig(
            name=durable,
            durable_name=durable,
            filter_subject=subject,
            ack_policy=AckPolicy.EXPLICIT,
            deliver_policy=DeliverPolicy.NEW,
            ack_wait=self._options.ack_wait_sec,
            max_deliver=-1,
            inactive_threshold=KEEP_IDLE_CONSUMER_SEC,
        )
        try:
            await self.client.jetstream(timeout=5).add_consumer(wire.JOBS_STREAM, config)
        except (nats.errors.Error, asyncio.TimeoutError):
            if any(durable in message for message in self._forbidden):
                raise Forbidden(subject) from None
            raise
        return await self.jetstream.pull_subscribe_bind(durable, wire.JOBS_STREAM)

    async def _exists(self, durable: str) -> bool:
        try:
            await self.jetstream.consumer_info(wire.JOBS_STREAM, durable)
        except (nats.js.errors.NotFoundError, nats.js.errors.ServiceUnavailableError):
            return False
        return True

    async def _on_error(self, error: Exception) -> None:
        text = str(error)
        if "permissions violation" in text.lower():
            self._forbidden.append(text)
            log.warning("not permitted by NATS: %s", text)
        elif not isinstance(error, asyncio.TimeoutError):
            log.warning("bus: %s: %s", type(error).__name__, text)

    async def _on_disconnect(self) -> None:
        self.is_connected = False

    async def _on_reconnect(self) -> None:
        self.is_connected = True
        self.on_reconnect()

    async def _on_close(self) -> None:
        self.is_connected = False
        self.closed.set()

