"""A worker on sdk/python for third-party.test.ts. Serves job.demo.<SDK_PREFIX>*; prints `ready`, and `ran <job> <attempt>`."""

import asyncio
import logging
import os

from svc_worker import FatalError, Job, RetryableError, Worker

PREFIX = f"job.demo.{os.environ.get('SDK_PREFIX', '')}"


def noted(job: Job) -> Job:
    print(f"ran {job.job_id} {job.attempt}", flush=True)
    return job


async def echo(job: Job) -> object:
    noted(job)
    job.logger.info("echo")
    return {"echo": job.prompt, "context": job.context}


async def flaky(job: Job) -> object:
    if noted(job).attempt == 1:
        raise RetryableError("busy", code="busy")
    return {"attempt": job.attempt}


async def broken(job: Job) -> object:
    noted(job)
    raise FatalError("broken", code="broken", error_code=1_234)


async def slow(job: Job) -> object:
    """Reports progress once, and ends on its own after the time in the context."""
    noted(job)
    job.progress(40, "waiting")
    await asyncio.sleep(float(job.context.get("seconds", 600)))
    return "done"


async def report(job: Job) -> object:
    noted(job)
    job.cost(0.25)
    return {"pointer": await job.save_artifact(b"\x00\xff", content_type="image/x"), "prompt": job.prompt}


async def main() -> None:
    handlers = {"echo": echo, "flaky": flaky, "broken": broken, "slow": slow, "report": report}
    worker = Worker(
        concurrency=8,
        heartbeat_sec=0.5,
        topics={f"{PREFIX}{name}": handler for name, handler in handlers.items()},
    )
    serving = asyncio.ensure_future(worker.serve())
    await worker.started.wait()
    print("ready", flush=True)
    await serving


logging.basicConfig(level=logging.INFO)
asyncio.run(main())
