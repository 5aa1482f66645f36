"""Subjects, names and rules of the bus. See docs/reference/worker-protocol.md."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import Literal

from google.protobuf.message import DecodeError

from ._proto import bus_pb2 as pb

JOB_RESULT = "sys.job.result"
JOB_PROGRESS = "sys.job.progress"
JOB_STREAM = "sys.job.stream"
JOB_CANCEL = "sys.job.cancel"
HEARTBEAT = "sys.heartbeat"
HANDSHAKE = "sys.handshake"
WORKER_CHALLENGE = "sys.worker.handshake.challenge"
WORKER_AUTHENTICATE = "sys.worker.handshake.authenticate"
ALERT = "sys.alert"
JOBS_STREAM = "SVC_JOBS"
MESSAGE_ID_HEADER = "Nats-Msg-Id"

BOOT_ID_LABEL = "svc.boot_id"
DISPATCH_ECHO_LABEL = "svc.echoes_dispatch"
INLINE_DATA_LABEL = "svc.inline_data"
EFFECTS_LABEL = "svc.effects"
GRANTS_LABEL = "svc.grants"
STORE_ACCESS_LABEL = "svc.store_access"

PROTOCOL_VERSION = 1
MAX_PACKET_BYTES = 1024 * 1024
MAX_INLINE_BYTES = 64 * 1024
WORKER_ID = re.compile(r"[A-Za-z0-9_-]{1,128}\Z")
TOPIC = re.compile(r"job(\.([^\s.*>]+|\*))*(\.>)?\Z")


def worker_subject(worker_id: str) -> str:
    return f"worker.{worker_id}.jobs"


def durable_name(group: str, subject: str) -> str:
    """Name of the durable consumer of a group on a subject."""
    of_subject = subject.replace(".", "_").replace("*", "STAR").replace(">", "GT")
    return re.sub(r"[.*>\s]", "_", f"dur_{group}__{of_subject}")


@dataclass(frozen=True)
class Refusal:
    """A packet that is rejected. `malformed` packets are delivered again, since a newer process may read them."""

    kind: Literal["malformed", "rejected"]
    code: int
    reason: str
    sender_id: str = ""
    trace_id: str = ""


def decode_packet(data: bytes) -> pb.BusPacket | Refusal:
    """Reads one message of the bus. Never raises."""
    if len(data) > MAX_PACKET_BYTES:
        reason = f"{len(data)} bytes, more than {MAX_PACKET_BYTES}"
        return Refusal("malformed", pb.ERROR_CODE_MALFORMED_PACKET, reason)
    packet = pb.BusPacket()
    try:
        packet.ParseFromString(data)
    except (DecodeError, ValueError, RecursionError):
        return Refusal("malformed", pb.ERROR_CODE_MALFORMED_PACKET, "not a packet")
    fault = _fault(packet)
    if fault is None:
        return packet
    code, reason = fault
    return Refusal("rejected", code, reason, packet.sender_id, packet.trace_id)


def _fault(packet: pb.BusPacket) -> tuple[int, str] | None:
    if packet.protocol_version != PROTOCOL_VERSION:
        return pb.ERROR_CODE_PROTOCOL_VERSION_MISMATCH, f"protocol version {packet.protocol_version}"
    payload = packet.WhichOneof("payload")
    if payload is None:
        return pb.ERROR_CODE_UNKNOWN_PAYLOAD, "no payload that is known"
    if payload == "job_cancel" and not packet.job_cancel.job_id:
        return pb.ERROR_CODE_MALFORMED_PACKET, "job_cancel without job_id"
    if payload != "job_request":
        return None
    request = packet.job_request
    missing = [field for field in ("job_id", "topic") if not getattr(request, field)]
    if missing:
        return pb.ERROR_CODE_MALFORMED_PACKET, f"job_request without {', '.join(missing)}"
    others = (
        request.env.get("tenant_id", ""),
        request.meta.tenant_id,
        request.identity.tenant_id,
        packet.identity.tenant_id,
    )
    if request.tenant_id and any(other and other != request.tenant_id for other in others):
        return pb.ERROR_CODE_PERMISSION_DENIED, "tenant_id differs from env, meta or identity"
    return None


def new_packet(sender_id: str, trace_id: str, auth_token: str) -> pb.BusPacket:
    packet = pb.BusPacket(
        trace_id=trace_id, sender_id=sender_id, protocol_version=PROTOCOL_VERSION, auth_token=auth_token
    )
    packet.created_at.FromNanoseconds(time.time_ns() // 1_000 * 1_000)
    return packet


def read_dispatch(request: pb.JobRequest) -> pb.DispatchIdentity:
    """The dispatch of a request, read from its env when the field is absent; empty when neither is set."""
    if request.HasField("dispatch"):
        return request.dispatch
    attempt = request.env.get("SVC_ATTEMPT", "")
    return pb.DispatchIdentity(
        dispatch_id=request.env.get("SVC_DISPATCH_ID", ""),
        attempt=int(attempt) if re.fullmatch(r"[0-9]{1,15}", attempt) else 0,
    )


def result_message_id(job_id: str, attempt: int, status: int) -> str:
    """Deduplicates repeated publishes of a result."""
    name = pb.JobStatus.Name(status).removeprefix("JOB_STATUS_")
    return f"{JOB_RESULT}:{job_id}:{attempt}:{name}"


def matches_topic(pattern: str, topic: str) -> bool:
    """`*` matches one token, `>` the rest."""
    wanted, tokens = pattern.split("."), topic.split(".")
    for i, token in enumerate(wanted):
        if token == ">":
            return len(tokens) > i
        if i >= len(tokens) or token not in ("*", tokens[i]):
            return False
    return len(wanted) == len(tokens)


def best_match(patterns: list[str], topic: str) -> str | None:
    """The most specific matching pattern: more literal tokens, then longer, then `*` before `>`."""
    fitting = [pattern for pattern in patterns if matches_topic(pattern, topic)]
    return min(fitting, key=_rank) if fitting else None


def _rank(pattern: str) -> tuple[int, int, int, str]:
    tokens = pattern.split(".")
    literal = sum(token not in ("*", ">") for token in tokens)
    return -literal, -len(tokens), int(">" in tokens), pattern
