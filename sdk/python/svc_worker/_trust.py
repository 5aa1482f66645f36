"""Signatures of packets: ECDSA P-256 over SHA-256, in DER. See docs/reference/worker-protocol.md#signatures."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Sequence
from typing import Any

from ._proto import bus_pb2 as pb

SIGNATURE_FIELD = 14
LENGTH_DELIMITED = 2
MAX_AGE_MS = 5 * 60_000


class PacketTrust:
    """Signs the packets of this worker and verifies those of the services, as far as it has keys for that."""

    def __init__(self, signing_key: str, service_keys: Sequence[str]) -> None:
        """Keys in PEM; '' and an empty list are none. Raises ValueError when one is no P-256 key."""
        self._signer = _private_key(signing_key) if signing_key else None
        self._service_keys = [_public_key(pem) for pem in service_keys]

    @property
    def signs(self) -> bool:
        return self._signer is not None

    @property
    def proves_both(self) -> bool:
        """Whether this worker and the services can prove who they are, as sessions need."""
        return self.signs and bool(self._service_keys)

    @property
    def key_id(self) -> str:
        """The first 16 hex digits of the SHA-256 of the public key in SPKI form; '' without a key."""
        if self._signer is None:
            return ""
        _, serialization, _ = _crypto()
        spki = self._signer.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        return hashlib.sha256(spki).hexdigest()[:16]

    def sign(self, data: bytes) -> bytes:
        """The signature of other bytes; b"" without a key."""
        return b"" if self._signer is None else bytes(self._signer.sign(data, _algorithm()))

    def is_from_services(self, data: bytes, signature: bytes) -> bool:
        return any(_is_signed_by(data, signature, key) for key in self._service_keys)

    def seal(self, packet: pb.BusPacket) -> bytes:
        """The packet in its deterministic encoding, signed when this worker has a key."""
        data = packet.SerializeToString(deterministic=True)
        if self._signer is None:
            return data
        signature: bytes = self._signer.sign(data, _algorithm())
        # An ECDSA signature has at most 72 bytes, so its length is one byte.
        return data + bytes((SIGNATURE_FIELD << 3 | LENGTH_DELIMITED, len(signature))) + signature

    def find_fault(self, data: bytes, packet: pb.BusPacket) -> int | None:
        """Error code of a packet that the services did not sign; None also without keys of theirs."""
        if not self._service_keys:
            return None
        parts = split_signature(data)
        if parts is None:
            return pb.ERROR_CODE_SIGNATURE_INVALID
        signed, signature = parts
        if not signature:
            return pb.ERROR_CODE_SIGNATURE_MISSING
        # A dispatch may wait in its stream for longer than a signature is valid; a repeat of it is not run again.
        age_ms = time.time() * 1_000 - packet.created_at.ToMilliseconds()
        if packet.WhichOneof("payload") != "job_request" and abs(age_ms) > MAX_AGE_MS:
            return pb.ERROR_CODE_SIGNATURE_INVALID
        return None if self.is_from_services(signed, signature) else pb.ERROR_CODE_SIGNATURE_INVALID


def split_signature(data: bytes) -> tuple[bytes, bytes] | None:
    """The received bytes that the signature covers, and the signature.

    Fields that this version does not know are covered as well. None when the packet has several signatures.
    """
    kept: list[bytes] = []
    signature: bytes | None = None
    try:
        for number, raw, content in fields_of(data):
            if number != SIGNATURE_FIELD:
                kept.append(raw)
            elif signature is not None or content is None:
                return None
            else:
                signature = content
    except (IndexError, ValueError):
        return None
    return (data, b"") if signature is None else (b"".join(kept), signature)


def fields_of(data: bytes) -> Iterator[tuple[int, bytes, bytes | None]]:
    """Number, bytes and, for fields with a length, the content of every field of a message."""
    at = 0
    while at < len(data):
        start = at
        tag, at = _varint(data, at)
        content = None
        if tag & 7 == 0:
            _, at = _varint(data, at)
        elif tag & 7 == 1:
            at += 8
        elif tag & 7 == LENGTH_DELIMITED:
            length, at = _varint(data, at)
            content = data[at : at + length]
            at += length
        elif tag & 7 == 5:
            at += 4
        else:
            raise ValueError("a group")
        if at > len(data):
            raise ValueError("too short")
        yield tag >> 3, data[start:at], content


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 63:
            raise ValueError("too long")


def _crypto() -> Any:
    try:
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec
    except ImportError as error:
        raise RuntimeError(
            "signatures need the package `cryptography`: install svc-worker-sdk[signatures]"
        ) from error
    return hashes, serialization, ec


def _algorithm() -> Any:
    hashes, _, ec = _crypto()
    return ec.ECDSA(hashes.SHA256())


def _private_key(pem: str) -> Any:
    _, serialization, ec = _crypto()
    return _checked(serialization.load_pem_private_key(pem.encode(), password=None), ec.EllipticCurvePrivateKey, ec)


def _public_key(pem: str) -> Any:
    _, serialization, ec = _crypto()
    return _checked(serialization.load_pem_public_key(pem.encode()), ec.EllipticCurvePublicKey, ec)


def _checked(key: Any, kind: type, ec: Any) -> Any:
    if isinstance(key, kind) and isinstance(getattr(key, "curve", None), ec.SECP256R1):
        return key
    raise ValueError("not a P-256 key")


def _is_signed_by(data: bytes, signature: bytes, key: Any) -> bool:
    from cryptography.exceptions import InvalidSignature

    try:
        key.verify(signature, data, _algorithm())
    except InvalidSignature:
        return False
    return True
