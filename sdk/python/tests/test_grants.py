"""Grants of dispatches; run by tools/third-party/python-sdk.test.ts."""

import base64
import hashlib
import json
import time
import unittest
from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from svc_worker import FatalError, GrantOptions, JobError, RetryableError
from svc_worker._grants import Grants, split_grant, with_approved_input
from svc_worker._job import DispatchKey
from svc_worker._options import resolve_grants
from svc_worker._proto import bus_pb2 as pb

KEY = Ed25519PrivateKey.generate()
PUBLIC = KEY.public_key()
PEM = PUBLIC.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo).decode()
SPKI = PUBLIC.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
DISPATCH = DispatchKey("j1", "d1", 1)


def encode(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")


def packet(grant: bytes = b"", **fields: Any) -> bytes:
    request = pb.JobRequest(job_id="j1", topic="job.x", tenant_id="acme", grant=grant, **fields)
    return pb.BusPacket(sender_id="s", job_request=request).SerializeToString(deterministic=True)


def granted(header: "dict[str, str] | None" = None, key: Ed25519PrivateKey = KEY, **changes: Any) -> bytes:
    covered, _ = split_grant(packet()) or (b"", b"")
    now = int(time.time())
    claims = {
        "iss": "svc",
        "aud": "w1",
        "jti": "d1",
        "iat": now,
        "exp": now + 600,
        "tenant": "acme",
        "job": "j1",
        "attempt": 1,
        "approval": "not_required",
        "request_sha256": hashlib.sha256(covered).hexdigest(),
        **changes,
    }
    names = {"alg": "EdDSA", "typ": "svc-grant+jwt", "kid": hashlib.sha256(SPKI).hexdigest()[:16], **(header or {})}
    head = encode(json.dumps(names, separators=(",", ":")).encode())
    signed = head + b"." + encode(json.dumps(claims).encode())
    return packet(signed + b"." + encode(key.sign(signed)))


def code(data: bytes, grants: "Grants | None" = None, **options: Any) -> str:
    request = pb.BusPacket.FromString(data).job_request
    checked = grants or Grants(GrantOptions(keys=[PEM], mode="enforce", **options), "w1")
    try:
        checked.use(data, request, DISPATCH)
    except JobError as error:
        return error.code
    return ""


class GrantsTest(unittest.TestCase):
    def test_a_grant_is_used_once_until_it_is_released(self) -> None:
        grants = Grants(GrantOptions(keys=[PEM], mode="enforce"), "w1")
        self.assertEqual([code(granted(), grants), code(granted(), grants)], ["", "grant_used"])
        grants.release(DISPATCH)
        self.assertEqual(code(granted(), grants), "")

    def test_a_grant_of_another_dispatch_key_or_form_is_refused(self) -> None:
        now = int(time.time())
        self.assertEqual(code(packet()), "grant_missing")
        self.assertEqual(code(granted(key=Ed25519PrivateKey.generate())), "grant_invalid")
        for change in ({"aud": "w2"}, {"jti": "d2"}, {"job": "j2"}, {"attempt": 2}, {"tenant": "x"}, {"iss": "x"}):
            self.assertEqual(code(granted(**change)), "grant_invalid")
        self.assertEqual(code(granted(iat=now + 90)), "grant_invalid")
        self.assertEqual(code(granted(exp=now - 90)), "grant_expired")
        for header in ({"alg": "none"}, {"typ": "JWT"}, {"kid": "x"}):
            self.assertEqual(code(granted(header=header)), "grant_invalid")
        _, grant = split_grant(granted()) or (b"", b"")
        self.assertEqual(code(packet(grant, principal_id="other")), "grant_invalid")
        merged = granted() + pb.BusPacket(job_request=pb.JobRequest(topic="job.y")).SerializeToString()
        self.assertEqual(code(merged), "grant_invalid")

    def test_topics_of_approvals_need_one_that_people_granted(self) -> None:
        topics = {"require": "approved", "approval_topics": ["job.x"]}
        self.assertEqual(code(granted(), **topics), "approval_required")
        self.assertEqual(code(granted(approval="granted"), **topics), "")
        self.assertEqual(code(packet(), **topics), "grant_missing")
        self.assertEqual(code(packet(), require="approved"), "")
        self.assertEqual(code(packet(labels={"approval_granted": "true"}), require="approved"), "grant_missing")

    def test_refusals_can_be_retried_where_the_next_dispatch_may_have_a_grant(self) -> None:
        grants = Grants(GrantOptions(keys=[PEM], mode="enforce"), "w1")
        request = pb.BusPacket.FromString(packet()).job_request
        with self.assertRaises(RetryableError):
            grants.use(packet(), request, DISPATCH)
        with self.assertRaises(FatalError):
            grants.use(packet(b"x"), request, DISPATCH)
        warning = Grants(GrantOptions(keys=[PEM], mode="warn"), "w1")
        with self.assertLogs("svc_worker", "WARNING"):
            self.assertEqual(warning.use(packet(), request, DISPATCH), "")

    def test_the_input_must_be_the_approved_one(self) -> None:
        ref = pb.ResourceRef(uri="redis://ctx:j1", sha256=b"x" * 32)
        bound = with_approved_input(ref, "01" * 32)
        assert bound is not None
        self.assertEqual((bound.uri, bound.sha256), ("redis://ctx:j1", b"\x01" * 32))
        self.assertIs(with_approved_input(ref, ""), ref)

    def test_options_enforce_with_keys_and_are_off_without(self) -> None:
        self.assertEqual(resolve_grants(GrantOptions(), {}).mode, "off")
        self.assertEqual(resolve_grants(GrantOptions(), {"SVC_GRANT_PUBLIC_KEYS": PEM}).mode, "enforce")
        for options, env in (
            (GrantOptions(mode="enforce"), {}),
            (GrantOptions(keys=["x"]), {}),
            (GrantOptions(), {"WORKER_GRANTS": "yes"}),
        ):
            with self.assertRaises(ValueError):
                resolve_grants(options, env)


if __name__ == "__main__":
    unittest.main()
