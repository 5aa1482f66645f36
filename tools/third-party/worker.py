"""A worker on the published package's `run_worker`, as its README shows, with heartbeats, handshake, progress and cancel.

Serves job.demo.echo, job.demo.flaky and job.demo.slow. Reads NATS_URL, REDIS_URL and WORKER_ID; prints `ready` once the
scheduler knows it.
"""

import asyncio
import json
import os
from typing import Dict

import nats
from cap import worker
from cap.handshake import publish_handshake
from cap.heartbeat import emit_heartbeat, heartbeat_loop, heartbeat_payload
from cap.packet_boundary import decode_packet, parse_packet
from cap.pb.cordum.agent.v1 import job_pb2
from cap.progress import emit_progress, progress_payload
from cap.runtime import RedisBlobStore, key_from_pointer, pointer_for_key
from cap.subjects import SUBJECT_CANCEL

WORKER_ID = os.environ["WORKER_ID"]
POOL = "demo"
MAX_PARALLEL = 4
TOPICS = ["job.demo.echo", "job.demo.flaky", "job.demo.slow"]


class Worker:
    def __init__(self, connection, store: RedisBlobStore) -> None:
        self.connection = connection
        self.store = store
        self.cancels: Dict[str, asyncio.Event] = {}

    async def handle(self, request: job_pb2.JobRequest) -> job_pb2.JobResult:
        if request.topic == "job.demo.flaky" and request.dispatch.attempt == 1:
            return self.result(request, job_pb2.JOB_STATUS_FAILED_RETRYABLE, error_code="busy")
        if request.topic == "job.demo.slow":
            return await self.until_cancelled(request)
        document = json.loads(await self.store.get(key_from_pointer(request.context_ptr)))
        key = f"res:{request.job_id}"
        await self.store.set(key, json.dumps({"echo": document["prompt"]}).encode())
        return self.result(request, job_pb2.JOB_STATUS_SUCCEEDED, result_ptr=pointer_for_key(key))

    async def until_cancelled(self, request: job_pb2.JobRequest) -> job_pb2.JobResult:
        cancel = self.cancels.setdefault(request.dispatch.dispatch_id, asyncio.Event())
        await self.progress(request, 40, "waiting for a cancel")
        document = json.loads(await self.store.get(key_from_pointer(request.context_ptr)))
        try:
            await asyncio.wait_for(cancel.wait(), (document.get("context") or {}).get("seconds"))
        except asyncio.TimeoutError:
            key = f"res:{request.job_id}"
            await self.store.set(key, b'"done"')
            return self.result(request, job_pb2.JOB_STATUS_SUCCEEDED, result_ptr=pointer_for_key(key))
        return self.result(request, job_pb2.JOB_STATUS_CANCELLED)

    async def on_cancel(self, message) -> None:
        packet = decode_packet(message.data, None, worker.logging.getLogger("cap.worker"))
        if packet is None or packet.WhichOneof("payload") != "job_cancel":
            return
        cancel = self.cancels.get(packet.job_cancel.dispatch.dispatch_id)
        if cancel is not None:
            cancel.set()

    async def progress(self, request: job_pb2.JobRequest, percent: int, text: str) -> None:
        packet = parse_packet(progress_payload(WORKER_ID, request.job_id, "", percent, text))
        packet.job_progress.dispatch.CopyFrom(request.dispatch)
        packet.job_progress.identity.CopyFrom(request.identity)
        await emit_progress(self.connection, packet.SerializeToString())

    @staticmethod
    def result(request: job_pb2.JobRequest, status: int, **fields: str) -> job_pb2.JobResult:
        return job_pb2.JobResult(
            job_id=request.job_id,
            worker_id=WORKER_ID,
            status=status,
            dispatch=request.dispatch,
            identity=request.identity,
            **fields,
        )


def heartbeat() -> bytes:
    return heartbeat_payload(WORKER_ID, POOL, 0, MAX_PARALLEL, 0.0)


async def main() -> None:
    url = os.environ["NATS_URL"]
    connection = await nats.connect(url, name=WORKER_ID)
    this = Worker(connection, RedisBlobStore(os.environ["REDIS_URL"]))
    await connection.subscribe(SUBJECT_CANCEL, cb=this.on_cancel)
    subscribed = asyncio.Event()

    async def connect(**options):
        jobs = await nats.connect(**options)
        subscribe = jobs.subscribe

        async def subscribe_and_flush(*args, **kwargs):
            subscription = await subscribe(*args, **kwargs)
            await jobs.flush()
            subscribed.set()
            return subscription

        jobs.subscribe = subscribe_and_flush
        return jobs

    serving = asyncio.create_task(
        worker.run_worker(url, f"worker.{WORKER_ID}.jobs", this.handle, sender_id=WORKER_ID, connect_fn=connect)
    )
    # Announced only now: a job that is sent before the subscription exists would be missed.
    await subscribed.wait()
    await publish_handshake(connection, WORKER_ID, {"progress": True, "cancel": True}, ready_topics=TOPICS)
    await emit_heartbeat(connection, heartbeat())
    await connection.flush()
    print("ready", flush=True)
    beating = asyncio.create_task(heartbeat_loop(connection, heartbeat, interval=1.0))
    await asyncio.gather(serving, beating)


if __name__ == "__main__":
    asyncio.run(main())
