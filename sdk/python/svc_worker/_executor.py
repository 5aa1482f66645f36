"""Runs jobs: decode, deduplicate, run, write, publish, and only then acknowledge."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any

import nats.errors
import nats.js.errors

from . import _wire as wire
from ._abort import Abort
from ._data import DataAccess, JobData, parse_context, too_large
from ._effects import Effects
from ._errors import FatalError, JobAborted, JobError, RetryableError, to_failure, well_formed
from ._grants import Grants, with_approved_input
from ._job import DispatchKey, Job, JobPowers, read_constraints
from ._leases import LeaseRenewer
from ._ledger import Finished, Ledger, Running, StoredResult
from ._link import Link
from ._options import JobHandler, WorkerOptions
from ._output import JobOutput, OutputReport
from ._progress import ProgressReports
from ._proto import bus_pb2 as pb
from ._receipt import NoReceipt, Receipt
from ._tasks import spawn

log = logging.getLogger("svc_worker")

UNREADABLE_DELAY_SEC = 5.0
UNREADABLE_DELIVERIES = 3
PUBLISH_RETRY_SEC = 1.0
#: Of text that its sender chose.
MAX_SHOWN_CHARS = 512
ALERTS_PER_SEC = 20
MAX_DEADLINE_MS = 2**31 - 1


@dataclass(frozen=True)
class Incoming:
    """A message of a job subject, from a stream or from core NATS."""

    subject: str
    data: bytes
    receipt: Receipt
    #: 1 on the first delivery.
    deliveries: int = 1
    stream_seq: int = 0
    trace: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Output:
    """Fields of the result that the run produced."""

    fields: dict[str, Any] = field(default_factory=dict)
    artifacts: list[str] = field(default_factory=list)
    cost_usd: float | None = None


@dataclass(frozen=True)
class Reports:
    """What readers see of a job while it runs."""

    progress: ProgressReports
    shown: JobOutput


class JobLog(logging.LoggerAdapter[logging.Logger]):
    """Names the job, its attempt and its trace in every line, and in the record as attributes."""

    def process(self, msg: Any, kwargs: Any) -> tuple[Any, Any]:
        extra = self.extra or {}
        kwargs["extra"] = {**extra, **kwargs.get("extra", {})}
        # A percent sign would be read as the placeholder of an argument.
        names = " ".join(f"{name}={value}".replace("%", "") for name, value in extra.items())
        return f"{msg} [{names}]", kwargs


class Executor:
    def __init__(
        self,
        options: WorkerOptions,
        link: Link,
        data: DataAccess,
        ledger: Ledger,
        leases: LeaseRenewer,
        on_session_ended: Callable[[str], None],
    ) -> None:
        self._on_session_ended = on_session_ended
        self._options = options
        self._link = link
        self._data = data
        self._ledger = ledger
        self._leases = leases
        self._grants = Grants(options.grants, options.id)
        self._topics = list(options.topics)
        self._own_subject = wire.worker_subject(options.id)
        self._alert_times: list[float] = []

    async def handle(self, incoming: Incoming) -> None:
        """Processes a message up to its acknowledgement; never raises."""
        packet = await self._read(incoming)
        if packet is None:
            return
        key = _key(packet.job_request)
        known = self._ledger.find(key)
        if isinstance(known, Running):
            # A repeated dispatch: its message is acknowledged with the first.
            known.receipts.append(incoming.receipt)
            return
        try:
            if isinstance(known, Finished):
                await self._publish(known.result)
                await incoming.receipt.ack()
                return
            await self._run(packet, incoming, key)
        except Exception:
            log.exception("job %s", key.job_id)

    async def refuse(self, incoming: Incoming, error: RetryableError) -> None:
        """Publishes a failure without running the job, and without a ledger entry, so that it can be redelivered."""
        packet = await self._read(incoming)
        if packet is None or self._ledger.find(_key(packet.job_request)) is not None:
            return
        await self._publish(self._result(packet, error, 0, Output(), incoming.trace))
        await incoming.receipt.ack()

    async def offer_cancel(self, subject: str, data: bytes) -> None:
        """Handles a cancel as it was received; one that is not signed by the services is reported and ignored."""
        packet = wire.decode_packet(data)
        if not isinstance(packet, pb.BusPacket) or packet.WhichOneof("payload") != "job_cancel":
            return
        forged = self._link.trust.find_fault(data, packet)
        if forged is None:
            self.cancel(packet.job_cancel)
            return
        refusal = wire.Refusal("rejected", forged, "not signed by the services", packet.sender_id, packet.trace_id)
        await self._report(refusal, Incoming(subject, data, NoReceipt()))

    def cancel(self, cancel: pb.JobCancel) -> None:
        """Aborts the runs that the cancel covers, with its grace period, or that of the worker when it is 0."""
        grace = float(cancel.grace_sec) if cancel.grace_sec > 0 else None
        for running in self._ledger.running():
            if running.key.is_covered_by(cancel):
                running.abort.abort(JobAborted("cancelled", cancel.reason or "cancelled", grace))

    async def _read(self, incoming: Incoming) -> pb.BusPacket | None:
        decoded = wire.decode_packet(incoming.data)
        if isinstance(decoded, pb.BusPacket):
            payload = decoded.WhichOneof("payload")
            if payload == "worker_handshake_result" and self._link.trust.find_fault(incoming.data, decoded) is None:
                self._on_session_ended(decoded.trace_id)
                await incoming.receipt.term()
                return None
            if payload != "job_request":
                decoded = wire.Refusal("rejected", pb.ERROR_CODE_UNKNOWN_PAYLOAD, "no job request")
            elif decoded.job_request.dispatch.assigned_worker_id not in ("", self._options.id):
                reason = "the dispatch is assigned to another worker"
                sender, trace = decoded.sender_id, decoded.trace_id
                decoded = wire.Refusal("rejected", pb.ERROR_CODE_PERMISSION_DENIED, reason, sender, trace)
            else:
                forged = self._link.trust.find_fault(incoming.data, decoded)
                if forged is None:
                    return decoded
                reason = "not signed by the services"
                decoded = wire.Refusal("rejected", forged, reason, decoded.sender_id, decoded.trace_id)
        if decoded.kind == "malformed" and incoming.stream_seq and incoming.deliveries < UNREADABLE_DELIVERIES:
            await incoming.receipt.nak(UNREADABLE_DELAY_SEC)
            return None
        await self._report(decoded, incoming)
        await incoming.receipt.term()
        return None

    async def _report(self, refusal: wire.Refusal, incoming: Incoming) -> None:
        """The packet's body is never part of the report."""
        log.warning("packet on %s refused: %s", incoming.subject, refusal.reason)
        now = time.monotonic()
        self._alert_times = [at for at in self._alert_times if now - at < 1]
        if len(self._alert_times) >= ALERTS_PER_SEC:
            return
        self._alert_times.append(now)
        level = "warning" if refusal.code == pb.ERROR_CODE_UNKNOWN_PAYLOAD else "error"
        if refusal.code in (pb.ERROR_CODE_SIGNATURE_MISSING, pb.ERROR_CODE_SIGNATURE_INVALID):
            level = "critical"
        # Not verified, and an alert must fit in a message itself.
        trace_id, sender_id, reason = (
            text[:MAX_SHOWN_CHARS] for text in (refusal.trace_id, refusal.sender_id, refusal.reason)
        )
        packet = self._link.new_packet(trace_id)
        packet.alert.CopyFrom(
            pb.SystemAlert(
                level=level,
                severity=f"ALERT_SEVERITY_{level.upper()}",
                message=f"packet refused: {reason}",
                component=self._options.id,
                source_component=self._options.id,
                code=pb.ErrorCode.Name(refusal.code),
                error_code_enum=pb.ErrorCode.Name(refusal.code),
                trace_id=trace_id,
                details={
                    "subject": incoming.subject,
                    "sender_id": sender_id,
                    "stream_seq": str(incoming.stream_seq or ""),
                },
            )
        )
        await self._link.send(wire.ALERT, packet)

    async def _run(self, packet: pb.BusPacket, incoming: Incoming, key: DispatchKey) -> None:
        started = time.monotonic()
        running = Running(key, Abort(), incoming.subject != self._own_subject, [incoming.receipt])
        self._ledger.begin(running)
        output = Output()
        error = await self._perform(packet, incoming, running, output)
        if isinstance(error, JobAborted) and error.cause == "lease_lost":
            # Another worker may have the message and publishes the result.
            self._ledger.forget(running)
            self._grants.release(key)
            for receipt in running.receipts:
                await receipt.nak()
            return
        elapsed_ms = round((time.monotonic() - started) * 1_000)
        result = self._result(packet, error, elapsed_ms, output, incoming.trace)
        try:
            await self._publish(result)
        except BaseException:
            # Not published and not acknowledged: the next delivery runs the job again.
            self._ledger.forget(running)
            self._grants.release(key)
            raise
        # After a crash here, the message is redelivered, and the repeated result is a no-op.
        self._ledger.finish(running, result)
        for receipt in running.receipts:
            await receipt.ack()

    async def _perform(
        self, packet: pb.BusPacket, incoming: Incoming, running: Running, output: Output
    ) -> BaseException | None:
        """Returns the error of a job that did not succeed."""
        request, abort = packet.job_request, running.abort
        deadline_ms = request.budget.deadline_ms
        late = JobAborted("deadline", f"deadline of {deadline_ms} ms expired")
        timer = None
        if 0 < deadline_ms < MAX_DEADLINE_MS:
            timer = asyncio.get_running_loop().call_later(deadline_ms / 1_000, abort.abort, late)
        progress = ProgressReports(lambda *report: spawn(self._send_progress(packet, *report)))
        shown = JobOutput(lambda report: spawn(self._send_output(packet, report)))
        logger = _job_logger(running.key, packet.trace_id)
        try:
            if incoming.deliveries > self._options.max_deliveries:
                message = f"no result after {self._options.max_deliveries} deliveries"
                raise FatalError(message, code="deliveries_exhausted")
            if deadline_ms > 0 and packet.HasField("created_at"):
                if time.time() * 1_000 - packet.created_at.ToMilliseconds() > deadline_ms:
                    abort.abort(late)
            approved = self._grants.use(incoming.data, request, running.key)
            reports = Reports(progress, shown)
            output.fields.update(await self._work(packet, running, reports, logger, output, approved))
            return None
        except Exception as error:
            reason = abort.reason or error
            if not isinstance(reason, (JobError, JobAborted)):
                logger.warning("the handler failed", exc_info=error)
            return reason
        finally:
            if timer is not None:
                timer.cancel()
            last_report = progress.finish()
            if last_report is not None:
                await self._send_progress(packet, *last_report)
            for report in shown.finish():
                await self._send_output(packet, report)

    async def _work(
        self, packet: pb.BusPacket, running: Running, reports: Reports, logger: JobLog, output: Output, approved: str
    ) -> dict[str, Any]:
        request, abort = packet.job_request, running.abort
        abort.check()
        pattern = wire.best_match(self._topics, request.topic)
        if pattern is None:
            raise RetryableError(
                f"this worker does not serve {request.topic}",
                code="topic_not_served",
                error_code=pb.ERROR_CODE_WORKER_UNAVAILABLE,
            )
        store = _lazy(lambda: self._data.of(request, abort))
        document = await self._read_input(request, store, approved)
        job = self._build_job(packet, running, document, reports, logger, output, store)
        abort.check()
        work = asyncio.ensure_future(_call(self._options.topics[pattern], job))
        value = await abort.within_grace(work, self._options.grace_sec)
        # A result that finished during shutdown counts; one that was cancelled, late or reassigned does not.
        self._leases.check()
        if abort.reason is not None and abort.reason.cause != "shutdown":
            raise abort.reason
        return await self._store_output(request, value, store)

    def _build_job(
        self,
        packet: pb.BusPacket,
        running: Running,
        document: Any,
        reports: Reports,
        logger: JobLog,
        output: Output,
        store: Callable[[], JobData],
    ) -> Job:
        request = packet.job_request

        def cost(usd: float) -> None:
            if not math.isfinite(usd) or usd < 0:
                raise ValueError(f"a cost must be a number from 0, in US dollars: {usd}")
            output.cost_usd = (output.cost_usd or 0.0) + usd

        async def write_artifact(data: bytes, **details: Any) -> str:
            self._check_size("artifact", len(data))
            pointer = await store().write_artifact(data, **details)
            output.artifacts.append(pointer)
            return pointer

        deadline_ms = request.budget.deadline_ms
        now = datetime.now(timezone.utc)
        return Job(
            job_id=request.job_id,
            topic=request.topic,
            tenant=request.tenant_id,
            trace_id=packet.trace_id,
            input=document,
            context_ptr=_context_pointer(request),
            env=dict(request.env),
            labels=dict(request.labels),
            attempt=running.key.attempt,
            dispatch_id=running.key.dispatch_id,
            constraints=read_constraints(request.env.get("SVC_POLICY_CONSTRAINTS", "")),
            deadline=now + timedelta(milliseconds=deadline_ms) if 0 < deadline_ms < MAX_DEADLINE_MS else None,
            adapter_id=request.adapter_id,
            memory_id=request.memory_id,
            parent_job_id=request.parent_job_id,
            workflow_id=request.workflow_id,
            principal_id=request.principal_id,
            logger=logger,
            _powers=JobPowers(
                running.abort, reports.progress.report, reports.shown.log, reports.shown.write, cost, write_artifact,
                Effects(request.env, running.abort).run,
            ),
        )

    async def _read_input(self, request: pb.JobRequest, store: Callable[[], JobData], approved: str) -> Any:
        """The input document: from the message, else from its pointer.

        approved: SHA-256 (hex) of the document that people approved, "" for none.
        """
        ref = with_approved_input(request.context_ref if request.HasField("context_ref") else None, approved)
        if request.inline_input:
            return parse_context(request.inline_input, ref)
        pointer = _context_pointer(request)
        return await store().read_context(pointer, ref) if pointer else None

    async def _store_output(
        self, request: pb.JobRequest, value: Any, store: Callable[[], JobData]
    ) -> dict[str, Any]:
        """Puts the body into the result message when the dispatch permits it and the body is small; else stores it."""
        if value is None:
            return {}
        body = bytes(value) if isinstance(value, (bytes, bytearray, memoryview)) else _to_json(value)
        self._check_size("result", len(body))
        is_small = 0 < len(body) <= wire.MAX_INLINE_BYTES
        # An empty body is stored: in a message it is the same as none.
        if request.result_ticket and is_small and self._ledger.has_room_for(wire.MAX_INLINE_BYTES):
            pointer = f"redis://res:{request.job_id}"
            return {"result_ptr": pointer, "inline_result": body, "result_ticket": request.result_ticket}
        return {"result_ptr": await store().write_result(body)}

    def _check_size(self, what: str, size: int) -> None:
        if size > self._options.max_body_bytes:
            raise too_large(what, size, self._options.max_body_bytes)

    async def _send_progress(self, packet: pb.BusPacket, percent: int, text: str) -> None:
        report = pb.JobProgress(percent=percent, message=well_formed(text))
        await self._send_report(wire.JOB_PROGRESS, packet, report)

    async def _send_output(self, packet: pb.BusPacket, shown: OutputReport) -> None:
        report = pb.JobProgress(logs=shown.logs, output=shown.output, output_offset=shown.output_offset)
        await self._send_report(wire.JOB_STREAM, packet, report)

    async def _send_report(self, subject: str, packet: pb.BusPacket, report: pb.JobProgress) -> None:
        request = packet.job_request
        common = pb.JobProgress(
            job_id=request.job_id,
            step_id=request.env.get("step_id", ""),
            status=pb.JOB_STATUS_RUNNING,
            **_echo(request),
        )
        report.MergeFrom(common)
        answer = self._link.new_packet(packet.trace_id)
        answer.job_progress.CopyFrom(report)
        await self._link.send(subject, answer)

    def _result(
        self,
        packet: pb.BusPacket,
        error: BaseException | None,
        elapsed_ms: int,
        output: Output,
        trace: Mapping[str, str],
    ) -> StoredResult:
        request = packet.job_request
        answer = self._link.new_packet(packet.trace_id)
        body = pb.JobResult(
            job_id=request.job_id,
            worker_id=self._options.id,
            status=pb.JOB_STATUS_SUCCEEDED,
            execution_ms=elapsed_ms,
            artifact_ptrs=output.artifacts,
            **_echo(request),
        )
        if output.cost_usd is not None:
            body.cost_usd = output.cost_usd
        if error is None:
            for name, value in output.fields.items():
                setattr(body, name, value)
        else:
            failure = to_failure(error)
            body.status = failure.status
            body.error_code = failure.error_code
            body.error_message = failure.error_message
            # An open enum: applications have codes of their own.
            body.error_code_enum = failure.error_code_enum  # type: ignore[assignment]
        answer.job_result.CopyFrom(body)
        attempt = wire.read_dispatch(request).attempt
        return StoredResult(
            wire.result_message_id(request.job_id, attempt, body.status), self._link.trust.seal(answer), trace
        )

    async def _publish(self, result: StoredResult) -> None:
        """Retries until the result is stored, since a lost result repeats the whole job."""
        while True:
            try:
                return await self._link.store(result)
            except (nats.errors.Error, nats.js.errors.Error, asyncio.TimeoutError, OSError) as error:
                if self._link.client.is_closed:
                    raise
                log.warning("publishing a result: %s", type(error).__name__)
                await asyncio.sleep(PUBLISH_RETRY_SEC)


def _key(request: pb.JobRequest) -> DispatchKey:
    dispatch = wire.read_dispatch(request)
    return DispatchKey(request.job_id, dispatch.dispatch_id, dispatch.attempt)


def _echo(request: pb.JobRequest) -> dict[str, Any]:
    """Fields of the request that results and progress echo, so that those of an earlier dispatch can be rejected."""
    dispatch = wire.read_dispatch(request)
    echo: dict[str, Any] = {}
    if dispatch.dispatch_id or dispatch.attempt:
        echo["dispatch"] = dispatch
    if request.HasField("identity"):
        echo["identity"] = request.identity
    return echo


def _context_pointer(request: pb.JobRequest) -> str:
    return request.context_ptr or request.context_ref.uri


async def _call(handler: JobHandler, job: Job) -> Any:
    if inspect.iscoroutinefunction(handler) or inspect.iscoroutinefunction(getattr(handler, "__call__", None)):
        return await handler(job)
    value = await asyncio.to_thread(handler, job)
    return await value if inspect.isawaitable(value) else value


def _to_json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8", "replace")


def _job_logger(key: DispatchKey, trace_id: str) -> JobLog:
    extra = {"job_id": key.job_id, "attempt": key.attempt, "dispatch_id": key.dispatch_id, "trace_id": trace_id}
    return JobLog(logging.getLogger("svc_worker.job"), extra)


def _lazy(create: Callable[[], JobData]) -> Callable[[], JobData]:
    made: list[JobData] = []

    def get() -> JobData:
        if not made:
            made.append(create())
        return made[0]

    return get
