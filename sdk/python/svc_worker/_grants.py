"""Grants of dispatches: what the services signed about one dispatch. See docs/reference/worker-protocol.md#grants."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from . import _wire as wire
from ._errors import FatalError, JobError, RetryableError
from ._job import DispatchKey
from ._proto import bus_pb2 as pb
from ._trust import fields_of

log = logging.getLogger("svc_worker")

REQUEST_FIELD = 10
GRANT_FIELD = 1010
#: Accepted difference of two clocks.
SKEW_SEC = 60
EVICT_EVERY = 500

MESSAGES = {
    "grant_missing": "the dispatch has no grant, which this worker requires",
    "grant_invalid": "the grant of the dispatch is not valid",
    "grant_expired": "the grant of the dispatch has expired",
    "grant_used": "the grant of the dispatch was used before",
    "approval_required": "this worker runs jobs of this topic only after people approved them",
}
#: A new dispatch may have a grant; the services can send one at any time.
RETRIED = ("grant_missing", "grant_expired")


@dataclass(frozen=True)
class GrantOptions:
    """Which dispatches the worker starts, by the grants that the services sign."""

    #: Ed25519 public keys (PEM) of the services; several during a rotation. Default: those in SVC_GRANT_PUBLIC_KEYS.
    keys: Sequence[str] = ()
    #: `enforce` refuses a dispatch without the grant that it needs, and any invalid grant; `warn` reports it and runs the
    #: job. Default: WORKER_GRANTS, else `enforce` with keys and `off` without.
    mode: Literal["", "off", "warn", "enforce"] = ""
    #: `all` dispatches need a grant, or those of `approval_topics` and those that say that they were approved.
    require: Literal["all", "approved"] = "all"
    #: Topics whose jobs run only after people approved them, whatever policy permits; `*` and `>` as in `topics`.
    approval_topics: Sequence[str] = field(default=())


class Grants:
    """Decides whether a dispatch may start, by its grant. Each dispatch is started once."""

    def __init__(self, options: GrantOptions, worker_id: str) -> None:
        """Raises ValueError when a key is no Ed25519 key in PEM."""
        self._options = options
        self._worker_id = worker_id
        self._keys = dict(_open_key(pem) for pem in options.keys)
        #: Expiry of the used grants, seconds, by dispatch.
        self._used: dict[str, float] = {}
        self._since_eviction = 0

    def use(self, data: bytes, request: pb.JobRequest, key: DispatchKey) -> str:
        """Uses the grant of a dispatch that is about to start.

        Returns the SHA-256 (hex) of the input that people approved, "" for none. Raises FatalError or RetryableError when
        the job must not start.
        """
        if self._options.mode == "off":
            return ""
        now = time.time()
        claims, fault = self._check(data, request, key, now)
        if fault is None:
            return str(claims.get("input_sha256") or "")
        log.warning("job %s: %s", request.job_id, MESSAGES[fault])
        if self._options.mode == "warn":
            return ""
        refused: type[JobError] = RetryableError if fault in RETRIED else FatalError
        raise refused(MESSAGES[fault], code=fault, error_code=pb.ERROR_CODE_PERMISSION_DENIED)

    def release(self, key: DispatchKey) -> None:
        """The run ended without a result, so the next delivery of the dispatch may run it."""
        self._used.pop(key.dispatch_id, None)

    def _check(
        self, data: bytes, request: pb.JobRequest, key: DispatchKey, now: float
    ) -> tuple[dict[str, Any], str | None]:
        claims, fault = self._verified(data, request, key, now)
        needs_approval = wire.best_match(list(self._options.approval_topics), request.topic) is not None
        if fault == "grant_missing":
            says_approved = request.labels.get("approval_granted") == "true"
            is_needed = self._options.require == "all" or needs_approval or says_approved
            return {}, fault if is_needed else None
        if fault is not None:
            return {}, fault
        if needs_approval and claims["approval"] != "granted":
            return {}, "approval_required"
        if self._used.get(key.dispatch_id, 0) >= now:
            return {}, "grant_used"
        self._remember(key.dispatch_id, claims["exp"] + SKEW_SEC, now)
        return claims, None

    def _verified(
        self, data: bytes, request: pb.JobRequest, key: DispatchKey, now: float
    ) -> tuple[dict[str, Any], str | None]:
        parts = split_grant(data)
        if parts is None:
            return {}, "grant_invalid"
        covered, grant = parts
        if not grant:
            return {}, "grant_missing"
        claims = self._read_signed(grant)
        stated = {
            "iss": "svc",
            "aud": self._worker_id,
            "jti": key.dispatch_id,
            "job": key.job_id,
            "attempt": key.attempt,
            "tenant": request.tenant_id,
            "request_sha256": hashlib.sha256(covered).hexdigest(),
        }
        if claims is None or any(claims.get(name) != value for name, value in stated.items()):
            return {}, "grant_invalid"
        issued, expires = claims.get("iat"), claims.get("exp")
        if not isinstance(issued, int) or not isinstance(expires, int) or issued > now + SKEW_SEC:
            return {}, "grant_invalid"
        if claims.get("approval") not in ("granted", "not_required"):
            return {}, "grant_invalid"
        return claims, "grant_expired" if now > expires + SKEW_SEC else None

    def _read_signed(self, token: bytes) -> dict[str, Any] | None:
        """The claims of a token that one of the keys signed. The header must be exactly the one that the platform writes."""
        from cryptography.exceptions import InvalidSignature

        parts = token.split(b".")
        key = self._keys.get(parts[0])
        if key is None or len(parts) != 3:
            return None
        try:
            key.verify(_decode(parts[2]), parts[0] + b"." + parts[1])
            claims = json.loads(_decode(parts[1]))
        except (InvalidSignature, ValueError):
            return None
        return claims if isinstance(claims, dict) else None

    def _remember(self, dispatch_id: str, expires: float, now: float) -> None:
        self._used[dispatch_id] = expires
        self._since_eviction += 1
        if self._since_eviction >= EVICT_EVERY:
            self._since_eviction = 0
            self._used = {name: end for name, end in self._used.items() if end >= now}


def split_grant(data: bytes) -> tuple[bytes, bytes] | None:
    """The bytes of the request that the grant covers, and the grant.

    None when the packet is not readable, or has several requests or grants: a decoder would merge them.
    """
    try:
        requests = [content for number, _, content in fields_of(data) if number == REQUEST_FIELD]
        if len(requests) != 1 or requests[0] is None:
            return None
        parts = list(fields_of(requests[0]))
    except (IndexError, ValueError):
        return None
    grants = [content for number, _, content in parts if number == GRANT_FIELD]
    if len(grants) > 1 or None in grants:
        return None
    covered = b"".join(raw for number, raw, _ in parts if number != GRANT_FIELD)
    return covered, (grants[0] or b"") if grants else b""


def with_approved_input(ref: pb.ResourceRef | None, sha256: str) -> pb.ResourceRef | None:
    """The reference of an input, with the hash of the document that people approved."""
    if not sha256:
        return ref
    bound = pb.ResourceRef()
    if ref is not None:
        bound.CopyFrom(ref)
    bound.sha256 = bytes.fromhex(sha256)
    return bound


def _open_key(pem: str) -> tuple[bytes, Any]:
    """The header of the tokens that a key verifies, and the key."""
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError as error:
        raise RuntimeError(
            "grants need the package `cryptography`: install svc-worker-sdk[signatures]"
        ) from error
    key = serialization.load_pem_public_key(pem.encode())
    if not isinstance(key, Ed25519PublicKey):
        raise ValueError("not an Ed25519 key")
    spki = key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    key_id = hashlib.sha256(spki).hexdigest()[:16]
    header = json.dumps({"alg": "EdDSA", "typ": "svc-grant+jwt", "kid": key_id}, separators=(",", ":"))
    return base64.urlsafe_b64encode(header.encode()).rstrip(b"="), key


def _decode(text: bytes) -> bytes:
    try:
        return base64.b64decode(text + b"=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except binascii.Error as error:
        raise ValueError("not base64url") from error
