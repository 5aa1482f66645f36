"""Session of a worker: proof of its key, and the token that its packets contain.

See docs/reference/worker-protocol.md#sessions.
"""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import os
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass

import nats.errors
from google.protobuf.message import DecodeError
from nats.aio.client import Client

from . import _wire as wire
from ._proto import bus_pb2 as pb
from ._tasks import spawn
from ._trust import PacketTrust, split_signature
from ._version import __version__

log = logging.getLogger("svc_worker")

ANSWER_TIMEOUT_SEC = 5.0
RETRY_SEC = 5.0
AUDIENCE = "svc-scheduler"
NONCE_BYTES = 32
MAX_HANDSHAKE_BYTES = 65_536
#: Maximum difference between the clocks of worker and scheduler.
MAX_SKEW_MS = 60_000


@dataclass(frozen=True)
class Session:
    """A token and the time for which it is valid, of `time.monotonic()`."""

    id: str
    token: str
    issued_at: float
    expires_at: float


class Rejected(Exception):
    """The services rejected the handshake."""


class InvalidAnswer(Exception):
    """An answer that cannot be read, or that the services did not send."""


class SessionKeeper:
    """Keeps a session.

    Proves the key of this worker at the start, renews the session at half its life, and proves the key again when the
    session is gone. The services are proven as well, so that a forged answer is ignored.
    """

    def __init__(
        self, worker_id: str, domain_prefix: str, client: Callable[[], Client], trust: PacketTrust
    ) -> None:
        self._worker_id = worker_id
        self._domain_prefix = domain_prefix
        self._client = client
        self._trust = trust
        self._session: Session | None = None
        self._running: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._is_stopped = False

    @property
    def token(self) -> str:
        """Token of the session, '' without one."""
        session = self._session
        return session.token if session is not None and session.expires_at > time.monotonic() else ""

    async def open(self) -> None:
        """Tries to get a session. Returns also when that failed, since the services may not require one."""
        if self._running is None or self._running.done():
            self._running = spawn(self._refresh())
        await asyncio.wait({self._running})

    def end(self, session_id: str) -> bool:
        """Forgets a session that the services have ended.

        Returns whether it was the current one: the key must then be proven again. Notices about another session, which may
        be late or repeated, change nothing.
        """
        if not session_id or self._session is None or self._session.id != session_id:
            return False
        self._session = None
        log.warning("the services ended the session of this worker: its key is proven again")
        return True

    def stop(self) -> None:
        self._is_stopped = True
        if self._timer is not None:
            self._timer.cancel()
        if self._running is not None:
            self._running.cancel()

    async def _refresh(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        wait_sec = RETRY_SEC
        current = self.token
        try:
            self._session = await self._handshake(current)
            wait_sec = (self._session.expires_at - self._session.issued_at) / 2
        except Rejected as error:
            # A renewal never becomes a new session by itself: the next try proves the key again. It follows at once,
            # since packets without a session may be refused until then.
            self._session = None
            if current:
                wait_sec = 0.0
            log.warning("session handshake: rejected with %s", error)
        except (InvalidAnswer, nats.errors.Error, asyncio.TimeoutError, OSError) as error:
            log.warning("session handshake: %s", str(error) or type(error).__name__)
        if not self._is_stopped:
            self._timer = asyncio.get_running_loop().call_later(wait_sec, lambda: spawn(self.open()))

    async def _handshake(self, current: str) -> Session:
        trace_id, request_id, nonce = str(uuid.uuid4()), str(uuid.uuid4()), os.urandom(NONCE_BYTES)
        asked = wire.new_packet(self._worker_id, trace_id, current)
        asked.worker_handshake_challenge_request.CopyFrom(
            pb.WorkerHandshakeChallengeRequest(
                request_id=request_id,
                trace_id=trace_id,
                worker_id=self._worker_id,
                proof_key_id=self._trust.key_id,
                proof_algorithm=pb.WORKER_HANDSHAKE_PROOF_ALGORITHM_ECDSA_P256_SHA256,
                audience=AUDIENCE,
                purpose=pb.WORKER_HANDSHAKE_PURPOSE_RENEW if current else pb.WORKER_HANDSHAKE_PURPOSE_ISSUE,
                client_nonce=nonce,
                protocol_version=wire.PROTOCOL_VERSION,
                sdk_version=__version__,
            )
        )
        reply = await self._ask(wire.WORKER_CHALLENGE, "CHALLENGE-REQUEST", asked, "CHALLENGE")
        challenge = reply.worker_handshake_challenge
        named = (challenge.request_id, challenge.worker_id, challenge.client_nonce)
        if named != (request_id, self._worker_id, nonce):
            raise InvalidAnswer("the challenge answers another request")

        proof = wire.new_packet(self._worker_id, trace_id, current)
        proof.worker_handshake_authenticate.challenge.CopyFrom(challenge)
        proof.worker_handshake_authenticate.capability_handshake.CopyFrom(
            pb.Handshake(
                component_id=self._worker_id,
                role=pb.COMPONENT_ROLE_WORKER,
                supported_versions=[wire.PROTOCOL_VERSION],
                capabilities={"signatures": True},
                sdk_version=__version__,
            )
        )
        answer = await self._ask(wire.WORKER_AUTHENTICATE, "AUTHENTICATE", proof, "RESULT")
        result = answer.worker_handshake_result
        if not result.accepted or result.challenge != challenge or not answer.auth_token:
            raise InvalidAnswer("the services gave no token")
        life_ms = result.token_expires_at.ToMilliseconds() - result.issued_at.ToMilliseconds()
        now = time.monotonic()
        return Session(_session_id(answer.auth_token), answer.auth_token, now, now + life_ms / 1_000)

    async def _ask(self, subject: str, step: str, packet: pb.BusPacket, answer_step: str) -> pb.BusPacket:
        """Sends one step. Raises InvalidAnswer, Rejected."""
        packet.signature = self._trust.sign(self._transcript(step, packet.SerializeToString(deterministic=True)))
        data = packet.SerializeToString(deterministic=True)
        reply = await self._client().request(subject, data, timeout=ANSWER_TIMEOUT_SEC)
        return self._verified(reply.data, answer_step)

    def _verified(self, data: bytes, step: str) -> pb.BusPacket:
        packet = pb.BusPacket()
        parts = split_signature(data) if len(data) <= MAX_HANDSHAKE_BYTES else None
        try:
            packet.ParseFromString(data)
        except (DecodeError, ValueError, RecursionError):
            parts = None
        if parts is None:
            raise InvalidAnswer("the answer cannot be read")
        # The bytes as received: fields that this version does not know are covered as well.
        signed, signature = parts
        is_result = packet.WhichOneof("payload") == "worker_handshake_result"
        if not self._trust.is_from_services(self._transcript("RESULT" if is_result else step, signed), signature):
            raise InvalidAnswer("the services did not sign the answer")
        if abs(packet.created_at.ToMilliseconds() - time.time() * 1_000) > MAX_SKEW_MS:
            raise InvalidAnswer("the clocks of worker and services differ by more than a minute")
        result = packet.worker_handshake_result
        if is_result and not result.accepted:
            raise Rejected(_reason(result.rejection_reason))
        return packet

    def _transcript(self, step: str, data: bytes) -> bytes:
        """The bytes that the signature of a step covers: its domain, a zero byte, and the packet without signature."""
        return f"{self._domain_prefix}-WORKER-HANDSHAKE-{step}-V1\0".encode("ascii") + data


def _session_id(token: str) -> str:
    """The id in the claims of a token, which the services verify; '' for a token of another form."""
    try:
        claims = token.split(".")[1]
        value = json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4))).get("jti", "")
    except (IndexError, ValueError, AttributeError):
        return ""
    return value if isinstance(value, str) else ""


def _reason(number: int) -> str:
    try:
        name = pb.WorkerHandshakeRejectionReason.Name(number)  # type: ignore[arg-type]
    except ValueError:
        return "an unknown reason"
    return name.removeprefix("WORKER_HANDSHAKE_REJECTION_REASON_")
