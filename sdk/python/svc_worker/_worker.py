"""A worker: pulls jobs while it has free slots, runs them, and publishes their results."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import nats.errors
import nats.js.errors
from nats.aio.msg import Msg
from nats.js.client import JetStreamContext

from . import _wire as wire
from ._data import DataAccess
from ._errors import JobAborted, RetryableError
from ._executor import Executor, Incoming
from ._heartbeats import Heartbeats
from ._leases import LeaseRenewer
from ._ledger import Ledger
from ._link import Forbidden, Link, trace_headers
from ._options import WorkerOptions
from ._proto import bus_pb2 as pb
from ._receipt import NoReceipt, StreamReceipt
from ._slots import Slots
from ._session import SessionKeeper
from ._tasks import spawn

log = logging.getLogger("svc_worker")

PULL_SEC = 5.0
RESTART_DELAY_SEC = 1.0
OVERFLOW_DELAY_SEC = 0.2


class Worker:
    """Serves the jobs of a pool. Start and stop it once; `run` does both.

    Takes the options of WorkerOptions as keyword arguments.
    """

    def __init__(self, **options: Any) -> None:
        self._options = WorkerOptions(**options).resolved()
        self._ledger = Ledger()
        self._slots = Slots(self._options.concurrency)
        self._link = Link(self._options)
        self._data = DataAccess(self._options.redis_url, self._options.result_ttl_sec, self._options.max_body_bytes)
        self._sources: list[asyncio.Task[None]] = []
        self._shared_sources: list[asyncio.Task[None]] = []
        self._stop_requested = asyncio.Event()
        self._stopped: asyncio.Future[None] | None = None
        self._is_draining = False
        #: Set once the worker has announced itself.
        self.started = asyncio.Event()

    @property
    def id(self) -> str:
        return self._options.id

    @property
    def options(self) -> WorkerOptions:
        """The options with their defaults."""
        return self._options

    def run(self) -> None:
        """Serves until SIGTERM or SIGINT. Blocks; use `serve` inside an event loop."""
        asyncio.run(self.serve())

    async def serve(self) -> None:
        """Starts, waits for SIGTERM, SIGINT or `stop`, and then drains and stops.

        Raises ConnectionError when NATS has closed the connection for good, as when the user of the worker was removed:
        a lost connection is opened again instead.
        """
        loop = asyncio.get_running_loop()
        is_closed = False
        for number in self._options.signals:
            loop.add_signal_handler(number, self._stop_requested.set)
        try:
            starting = spawn(self.start())
            asked = spawn(self._stop_requested.wait())
            await asyncio.wait({starting, asked}, return_when=asyncio.FIRST_COMPLETED)
            if starting.done():
                starting.result()
            else:
                # The platform is not there yet, so no job was accepted.
                starting.cancel()
            await asyncio.wait({asked, spawn(self._link.closed.wait())}, return_when=asyncio.FIRST_COMPLETED)
            is_closed = not asked.done()
        finally:
            await self.stop()
            for number in self._options.signals:
                loop.remove_signal_handler(number)
        if is_closed:
            raise ConnectionError(f"NATS has closed the connection: {self._link.client.last_error or 'no reason given'}")

    async def start(self) -> None:
        """Connects, subscribes, and then announces the worker, so that no dispatch is missed."""
        await self._link.open()
        self._leases = LeaseRenewer(self._ledger, self._options.ack_wait_sec, lambda: self._link.is_connected)
        self._executor = Executor(
            self._options, self._link, self._data, self._ledger, self._leases, self._session_ended
        )
        self._heartbeats = Heartbeats(self._link, self._options, self._running)
        await self._link.client.subscribe(wire.JOB_CANCEL, cb=self._on_cancel)
        await self._listen()
        await self._link.client.flush()
        if self._link.session is not None:
            # Before the first heartbeat, which may have to prove the session.
            await self._link.session.open()
        if self._is_draining:
            return
        await self._heartbeats.start()
        self._link.on_reconnect = self._reconnected
        self.started.set()
        log.info("worker %s serves the pool %s", self.id, self._options.pool)

    async def stop(self) -> None:
        """Drains and disconnects.

        Accepts no more jobs, lets running ones finish within the grace period, and ends the rest FAILED_RETRYABLE.
        """
        self._stop_requested.set()
        if self._stopped is None:
            self._stopped = asyncio.ensure_future(self._close())
        await asyncio.shield(self._stopped)

    def _reconnected(self) -> None:
        spawn(self._heartbeats.announce_twice())
        session = self._link.session
        if session is not None and not session.token:
            spawn(session.open())

    def _session_ended(self, session_id: str) -> None:
        session = self._link.session
        if session is not None and session.end(session_id):
            spawn(self._prove_again(session))

    async def _prove_again(self, session: SessionKeeper) -> None:
        await session.open()
        await self._heartbeats.announce()

    async def _listen(self) -> None:
        own = wire.worker_subject(self.id)
        groups = {topic: self._options.queue_group or topic for topic in self._options.topics}
        if not self._options.jetstream:
            await self._link.client.subscribe(own, cb=self._offer_core)
            for topic, group in groups.items():
                await self._link.client.subscribe(topic, group, cb=self._offer_core)
            return
        ready = [asyncio.Event() for _ in range(len(groups) + 1)]
        self._sources = [spawn(self._pull(own, self.id, self._offer_own, ready[0], False))]
        self._shared_sources = [
            spawn(self._pull(topic, group, self._offer_shared, event, True))
            for (topic, group), event in zip(groups.items(), ready[1:])
        ]
        for event in ready:
            await event.wait()

    async def _pull(
        self,
        subject: str,
        group: str,
        offer: Callable[[Incoming], Awaitable[None]],
        ready: asyncio.Event,
        is_shared: bool,
    ) -> None:
        """Pulls the messages of a subject, limited by free slots, so that idle workers get what busy ones do not pull."""
        source: JetStreamContext.PullSubscription | None = None
        while not self._link.client.is_closed and not (is_shared and self._is_draining):
            try:
                if source is None:
                    source = await self._link.consumer(subject, group)
                ready.set()
                await self._slots.when_free()
                for message in await source.fetch(1, timeout=PULL_SEC):
                    await offer(_from_stream(message))
            except Forbidden:
                # Permissions cannot match the names of the consumers of all topics under a pattern. Without a consumer
                # a job is not delivered again, which is safe: the scheduler dispatches on the worker's own subject.
                if not is_shared:
                    log.warning("the durable consumer of %s may not be created", subject)
                    await asyncio.sleep(RESTART_DELAY_SEC)
                    continue
                await self._link.client.subscribe(subject, group, cb=self._offer_core)
                ready.set()
                return
            except (asyncio.TimeoutError, nats.errors.TimeoutError):
                # No message, or no answer while the consumer was created.
                if source is None:
                    await asyncio.sleep(RESTART_DELAY_SEC)
            except (nats.errors.Error, nats.js.errors.Error, OSError) as error:
                if self._link.client.is_closed:
                    return
                log.warning("pulling %s: %s", subject, type(error).__name__)
                await _discard(source)
                source = None
                await asyncio.sleep(RESTART_DELAY_SEC)

    async def _offer_own(self, incoming: Incoming) -> None:
        """No other worker gets this message, so it waits for a slot."""
        if self._slots.try_take() or await self._leases.hold(incoming.receipt, self._slots.take()):
            spawn(self._handle(incoming))
        else:
            await self._refuse(incoming, "the worker is stopping")

    async def _offer_shared(self, incoming: Incoming) -> None:
        """Another worker may have a free slot."""
        if self._slots.try_take():
            spawn(self._handle(incoming))
        else:
            await incoming.receipt.nak(OVERFLOW_DELAY_SEC)

    async def _offer_core(self, message: Msg) -> None:
        incoming = Incoming(message.subject, message.data, NoReceipt(), trace=trace_headers(message.headers))
        if self._slots.try_take():
            spawn(self._handle(incoming))
        else:
            await self._refuse(incoming, "the worker is stopping" if self._is_draining else "the worker is full")

    async def _handle(self, incoming: Incoming) -> None:
        try:
            await self._executor.handle(incoming)
        finally:
            await self._slots.free()

    async def _refuse(self, incoming: Incoming, message: str) -> None:
        error = RetryableError(message, code="worker_unavailable", error_code=pb.ERROR_CODE_RESOURCE_EXHAUSTED)
        try:
            await self._executor.refuse(incoming, error)
        except (nats.errors.Error, nats.js.errors.Error, asyncio.TimeoutError, OSError) as failure:
            log.warning("refusing a job: %s", type(failure).__name__)

    async def _on_cancel(self, message: Msg) -> None:
        await self._executor.offer_cancel(message.subject, message.data)

    def _running(self) -> tuple[int, list[str]]:
        return self._slots.in_use, [running.key.job_id for running in self._ledger.running()]

    async def _close(self) -> None:
        self._is_draining = True
        await self._slots.close()
        if hasattr(self, "_heartbeats"):
            await self._heartbeats.drain()
            await self._finished(self._options.grace_sec)
            for running in self._ledger.running():
                running.abort.abort(JobAborted("shutdown", "the worker is stopping"))
            # Another grace period for the aborted jobs; then their results are sent.
            await self._finished(self._options.grace_sec + 5)
            self._heartbeats.stop()
            self._leases.stop()
        for source in self._sources + self._shared_sources:
            source.cancel()
        await asyncio.gather(*self._sources, *self._shared_sources, return_exceptions=True)
        await self._link.close()
        await self._data.close()

    async def _finished(self, within_sec: float) -> None:
        """Returns when no job runs, or after the time."""
        try:
            await asyncio.wait_for(self._slots.when_idle(), within_sec)
        except asyncio.TimeoutError:
            pass


def _from_stream(message: Msg) -> Incoming:
    metadata = message.metadata
    return Incoming(
        subject=message.subject,
        data=message.data,
        receipt=StreamReceipt(message),
        deliveries=metadata.num_delivered or 1,
        stream_seq=metadata.sequence.stream,
        trace=trace_headers(message.headers),
    )


async def _discard(source: JetStreamContext.PullSubscription | None) -> None:
    if source is not None:
        try:
            await source.unsubscribe()
        except (nats.errors.Error, OSError):
            pass
