"""Announcements to the schedulers: heartbeats, capabilities and topics."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import Callable

from . import _wire as wire
from ._link import Link
from ._options import WorkerOptions
from ._proto import bus_pb2 as pb
from ._tasks import spawn
from ._version import __version__

HANDSHAKE_SEC = 30.0
#: Bounds the packet; further jobs are listed once others have ended.
MAX_LISTED_JOBS = 256
OTHERS_RECONNECT_SEC = 2.5
ABILITIES = ("progress", "cancel", "error_codes", "heartbeats", "conformance.core", "conformance.standard")


class Heartbeats:
    def __init__(self, link: Link, options: WorkerOptions, running: Callable[[], tuple[int, list[str]]]) -> None:
        self._link = link
        self._options = options
        self._running = running
        self._is_draining = False
        #: Distinguishes this process from an earlier one with the same id.
        self._boot_id = str(uuid.uuid4())
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        await self.announce()
        self._tasks = [
            spawn(self._every(self._options.heartbeat_sec, self._heartbeat)),
            spawn(self._every(HANDSHAKE_SEC, self._handshake)),
        ]

    async def announce(self) -> None:
        await self._link.send(wire.HANDSHAKE, self._handshake())
        await self._link.send(wire.HEARTBEAT, self._heartbeat())

    async def announce_twice(self) -> None:
        """After a reconnect: now, and again for schedulers that reconnect later."""
        await self.announce()
        await asyncio.sleep(OTHERS_RECONNECT_SEC)
        await self.announce()

    async def drain(self) -> None:
        """Announces draining: no new jobs, running ones finish."""
        self._is_draining = True
        await self.announce()

    def stop(self) -> None:
        for task in self._tasks:
            task.cancel()

    async def _every(self, seconds: float, build: Callable[[], pb.BusPacket]) -> None:
        while True:
            await asyncio.sleep(seconds)
            packet = build()
            subject = wire.HEARTBEAT if packet.HasField("heartbeat") else wire.HANDSHAKE
            await self._link.send(subject, packet)

    def _heartbeat(self) -> pb.BusPacket:
        options = self._options
        active, job_ids = self._running()
        labels = {
            **options.labels,
            wire.BOOT_ID_LABEL: self._boot_id,
            wire.DISPATCH_ECHO_LABEL: "true",
            wire.INLINE_DATA_LABEL: "true",
        }
        if options.effects:
            labels[wire.EFFECTS_LABEL] = "true"
        if options.grants.mode != "off":
            labels[wire.GRANTS_LABEL] = "true"
        if options.redis_url:
            labels[wire.STORE_ACCESS_LABEL] = "true"
        packet = self._link.new_packet("")
        packet.heartbeat.CopyFrom(
            pb.Heartbeat(
                worker_id=options.id,
                pool=options.pool,
                region=options.region,
                type=options.type,
                active_jobs=active,
                running_jobs=job_ids[:MAX_LISTED_JOBS],
                max_parallel_jobs=options.concurrency,
                capabilities=list(options.capabilities),
                labels=labels,
                cpu_load=cpu_load(),
                memory_load=memory_load(),
                auth_token=options.auth_token,
                agent_name=options.agent_name,
            )
        )
        return packet

    def _handshake(self) -> pb.BusPacket:
        options = self._options
        signed = ["signatures"] if self._link.trust.signs else []
        names = [*ABILITIES, *signed, *(["x-draining"] if self._is_draining else [])]
        packet = self._link.new_packet("")
        packet.handshake.CopyFrom(
            pb.Handshake(
                component_id=options.id,
                role=pb.COMPONENT_ROLE_WORKER,
                supported_versions=[wire.PROTOCOL_VERSION],
                capabilities=dict.fromkeys(names, True),
                sdk_version=__version__,
                ready_topics=[] if self._is_draining else list(options.topics),
                agent_name=options.agent_name,
            )
        )
        return packet


def cpu_load() -> float:
    """Percent; 0 where the system does not state it."""
    try:
        return _percent(os.getloadavg()[0] / (os.cpu_count() or 1))
    except (OSError, AttributeError):
        return 0.0


def memory_load() -> float:
    """Percent; 0 where the system does not state it."""
    try:
        return _percent(1 - os.sysconf("SC_AVPHYS_PAGES") / os.sysconf("SC_PHYS_PAGES"))
    except (OSError, ValueError, AttributeError, ZeroDivisionError):
        return 0.0


def _percent(part: float) -> float:
    return min(100.0, max(0.0, part * 100))
