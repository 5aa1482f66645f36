"""Parts of the SDK that need no server; run by tools/third-party/python-sdk.test.ts."""

import asyncio
import io
import logging
import unittest
from collections.abc import Callable
from types import SimpleNamespace
from unittest import mock

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from svc_worker import Worker, WorkerOptions
from svc_worker import _wire as wire
from svc_worker._abort import Abort
from svc_worker._errors import FatalError, JobAborted, to_failure
from svc_worker._executor import _job_logger
from svc_worker._job import DispatchKey
from svc_worker._link import parse_servers
from svc_worker._options import split_keys
from svc_worker._output import JobOutput, OutputReport
from svc_worker._proto import bus_pb2 as pb
from svc_worker._session import SessionKeeper
from svc_worker._trust import PacketTrust


def keys() -> "tuple[str, str]":
    key = ec.generate_private_key(ec.SECP256R1())
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return private.decode(), public.decode()


class Names(unittest.TestCase):
    def test_consumers_have_the_names_of_the_contract(self) -> None:
        self.assertEqual(wire.durable_name("w-1", "worker.w-1.jobs"), "dur_w-1__worker_w-1_jobs")
        self.assertEqual(wire.durable_name("job.a.*", "job.a.*"), "dur_job_a____job_a_STAR")

    def test_the_most_specific_topic_wins(self) -> None:
        patterns = ["job.>", "job.*.c", "job.b.>", "job.b.c"]
        self.assertEqual(wire.best_match(patterns, "job.b.c"), "job.b.c")
        self.assertEqual(wire.best_match(patterns, "job.x.c"), "job.*.c")
        self.assertEqual(wire.best_match(patterns, "job.b.x.y"), "job.b.>")
        self.assertIsNone(wire.best_match(["job.a"], "job.b"))

    def test_servers_are_separated_from_their_credentials(self) -> None:
        servers, credentials = parse_servers("nats://u:p%40ss@a:1, nats://b:2")
        self.assertEqual(servers, ["nats://a:1", "nats://b:2"])
        self.assertEqual(credentials, {"user": "u", "password": "p@ss"})

    def test_options_hide_credentials_and_refuse_invalid_names(self) -> None:
        options = WorkerOptions(topics={"job.a": print}, id="w", nats_url="nats://u:secret@a", auth_token="secret")
        self.assertNotIn("secret", repr(options))
        for invalid in ({"id": "a.b"}, {"topics": {"other": print}}, {"concurrency": 0}, {"signing_key": "secret"}):
            with self.assertRaises(ValueError) as refused:
                Worker(**{"topics": {"job.a": print}, "id": "w", **invalid})
            self.assertNotIn("secret", str(refused.exception))


class Packets(unittest.TestCase):
    def request(self, **fields: object) -> bytes:
        packet = wire.new_packet("scheduler", "t", "")
        packet.job_request.CopyFrom(pb.JobRequest(job_id="j", topic="job.a", **fields))  # type: ignore[arg-type]
        return packet.SerializeToString()

    def code(self, data: bytes) -> int:
        refused = wire.decode_packet(data)
        assert isinstance(refused, wire.Refusal)
        return refused.code

    def test_invalid_packets_have_the_codes_of_the_contract(self) -> None:
        self.assertIsInstance(wire.decode_packet(self.request()), pb.BusPacket)
        self.assertEqual(self.code(b"no packet"), 101)
        self.assertEqual(self.code(b"x" * (wire.MAX_PACKET_BYTES + 1)), 101)
        self.assertEqual(self.code(pb.BusPacket(protocol_version=2).SerializeToString()), 100)
        self.assertEqual(self.code(pb.BusPacket(protocol_version=1).SerializeToString()), 102)
        self.assertEqual(self.code(self.request(tenant_id="a", env={"tenant_id": "b"})), 202)

    def test_a_cancel_stops_the_dispatch_it_names_and_older_ones(self) -> None:
        cancel = pb.JobCancel(job_id="j", dispatch=pb.DispatchIdentity(dispatch_id="d2", attempt=2))
        covered = [DispatchKey("j", f"d{attempt}", attempt).is_covered_by(cancel) for attempt in (1, 2, 3)]
        self.assertEqual(covered, [True, True, False])
        self.assertTrue(DispatchKey("j", "d3", 3).is_covered_by(pb.JobCancel(job_id="j")))

    def test_signatures_cover_every_other_byte(self) -> None:
        private, public = keys()
        trust = PacketTrust(private, split_keys(public + keys()[1]))
        packet = wire.new_packet("w", "t", "token")
        packet.job_cancel.job_id = "j"
        signed = trust.seal(packet)
        self.assertIsNone(trust.find_fault(signed, packet))
        self.assertEqual(trust.find_fault(signed + b"\x0a\x01x", packet), 103)
        self.assertEqual(trust.find_fault(packet.SerializeToString(), packet), 104)
        self.assertEqual(PacketTrust("", [keys()[1]]).find_fault(signed, packet), 103)
        packet.created_at.FromSeconds(1)
        self.assertEqual(trust.find_fault(trust.seal(packet), packet), 103)


class Services:
    """Answers of the services to a handshake, signed with a key."""

    def __init__(self, private: str, change: Callable[[pb.BusPacket], object] = lambda packet: None) -> None:
        self._trust = PacketTrust(private, [])
        self._change = change

    async def request(self, subject: str, data: bytes, timeout: float) -> SimpleNamespace:
        asked, answer = pb.BusPacket.FromString(data), wire.new_packet("scheduler", "t", "")
        if subject == wire.WORKER_CHALLENGE:
            step, named = "CHALLENGE", asked.worker_handshake_challenge_request
            answer.worker_handshake_challenge.CopyFrom(
                pb.WorkerHandshakeChallenge(
                    request_id=named.request_id, worker_id=named.worker_id, client_nonce=named.client_nonce
                )
            )
        else:
            step, answer.auth_token = "RESULT", "token"
            result = answer.worker_handshake_result
            result.challenge.CopyFrom(asked.worker_handshake_authenticate.challenge)
            result.accepted = True
            result.issued_at.FromSeconds(100)
            result.token_expires_at.FromSeconds(3_700)
        self._change(answer)
        unsigned = answer.SerializeToString(deterministic=True)
        answer.signature = self._trust.sign(f"SVC-WORKER-HANDSHAKE-{step}-V1\0".encode() + unsigned)
        return SimpleNamespace(data=answer.SerializeToString(deterministic=True))


class Sessions(unittest.IsolatedAsyncioTestCase):
    own, services = keys(), keys()

    async def token(self, answers: Services) -> str:
        trust = PacketTrust(self.own[0], [self.services[1]])
        keeper = SessionKeeper("w", "SVC", lambda: answers, trust)  # type: ignore[arg-type, return-value]
        await keeper.open()
        keeper.stop()
        return keeper.token

    async def test_only_fresh_answers_of_the_services_to_its_own_request_give_a_session(self) -> None:
        self.assertEqual(await self.token(Services(self.services[0])), "token")
        self.assertEqual(await self.token(Services(keys()[0])), "")

        def name_another_challenge(packet: pb.BusPacket) -> None:
            if packet.HasField("worker_handshake_result"):
                packet.worker_handshake_result.challenge.worker_id = "other"

        changes = {
            "another request": lambda packet: setattr(packet.worker_handshake_challenge, "request_id", "other"),
            "an old packet": lambda packet: packet.created_at.FromSeconds(1),
            "no token": lambda packet: packet.ClearField("auth_token"),
            "another challenge": name_another_challenge,
        }
        for name, change in changes.items():
            with self.subTest(name):
                self.assertEqual(await self.token(Services(self.services[0], change)), "")

    async def test_a_connection_that_nats_closes_for_good_is_an_error(self) -> None:
        worker = Worker(topics={"job.a": print}, id="w", signals=())

        async def start() -> None:
            worker._link.closed.set()

        with mock.patch.object(worker, "start", start), self.assertRaises(ConnectionError):
            await worker.serve()


class Runs(unittest.IsolatedAsyncioTestCase):
    # A busy machine may delay the first part until the incomplete word is overdue.
    @mock.patch("svc_worker._output.MAX_WORD_SEC", 60)
    async def test_partial_output_is_sent_in_words_and_bounded_parts(self) -> None:
        sent: "list[OutputReport]" = []
        shown = JobOutput(sent.append)
        for text in ("The sh", "ip is ", "sk-12"):
            shown.write(text)
        shown.log("found", "warn")
        while not sent:
            await asyncio.sleep(0.01)
        self.assertEqual((sent[0].output, sent[0].logs[0].message), ("The ship is ", "found"))
        shown.write("34 end")
        await asyncio.sleep(0)
        self.assertEqual([(part.output, part.output_offset) for part in shown.finish()], [("sk-1234 end", 12)])
        long = JobOutput(sent.append)
        long.write("x" * 40_000)
        await asyncio.sleep(0)
        parts = sent[1:] + long.finish()
        self.assertEqual([len(part.output) for part in parts], [16_384, 16_384, 7_232])

    async def test_an_abort_cancels_the_handler_and_waits_for_the_grace_period_only(self) -> None:
        abort = Abort()

        async def stubborn() -> None:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                # Longer than the grace period of the abort; the end of the test cancels it again.
                await asyncio.sleep(60)

        work = asyncio.ensure_future(stubborn())
        waiting = asyncio.ensure_future(abort.within_grace(work, 60))
        await asyncio.sleep(0)
        abort.abort(JobAborted("cancelled", "no more", 0.01))
        with self.assertRaises(JobAborted):
            await waiting
        self.assertEqual(to_failure(JobAborted("deadline", "late")).status, pb.JOB_STATUS_TIMEOUT)
        self.assertEqual(to_failure(FatalError("no \ud800")).error_message, "no ?")

    async def test_log_lines_name_the_job_also_with_arguments(self) -> None:
        text = io.StringIO()
        handler = logging.StreamHandler(text)
        logging.getLogger("svc_worker.job").addHandler(handler)
        logging.getLogger("svc_worker.job").setLevel(logging.INFO)
        _job_logger(DispatchKey("j%s", "d", 1), "t").info("step %d", 3)
        self.assertEqual(text.getvalue(), "step 3 [job_id=js attempt=1 dispatch_id=d trace_id=t]\n")


if __name__ == "__main__":
    unittest.main()
