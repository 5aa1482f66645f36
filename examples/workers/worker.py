"""A worker in Python: `pip install './sdk/python[redis]'`, then `WORKER_ID=demo-1 SVC_POOL=demo python examples/workers/worker.py`.

Reads NATS_URL and, optionally, REDIS_URL. Also serves the topics that `npm run conformance` uses.
"""

import asyncio
import hashlib
import logging

from svc_worker import FatalError, Job, RetryableError, Worker


async def echo(job: Job) -> object:
    return {"echo": job.prompt, "attempt": job.attempt}


async def slow(job: Job) -> object:
    """Works in steps for as many seconds as the context says. A cancel ends it at the next step."""
    seconds = float(job.context.get("seconds", 60)) if isinstance(job.context, dict) else 60.0
    job.progress(0, "started")
    for step in range(1, 21):
        await asyncio.sleep(seconds / 20)
        job.progress(step * 5, f"step {step} of 20")
    return {"finished": True}


async def flaky(job: Job) -> object:
    if job.attempt == 1:
        raise RetryableError("the crane was busy", code="busy")
    return {"attempt": job.attempt}


async def broken(job: Job) -> object:
    raise FatalError("the crane has collapsed", code="collapsed")


def digest(job: Job) -> object:
    """A plain function runs in a thread, so that long calculations do not delay other jobs."""
    job.logger.info("hashing %d characters", len(job.prompt))
    return {"sha256": hashlib.sha256(job.prompt.encode()).hexdigest()}


async def report(job: Job) -> object:
    pointer = await job.save_artifact(job.prompt.encode(), content_type="text/plain")
    job.cost(0.01)
    return {"report": pointer}


TOPICS = {
    "job.demo.echo": echo,
    "job.demo.slow": slow,
    "job.demo.flaky": flaky,
    "job.demo.broken": broken,
    "job.demo.digest": digest,
    "job.demo.report": report,
    "job.conformance.echo": echo,
    "job.conformance.slow": slow,
    "job.conformance.fail": broken,
}

if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    Worker(topics=TOPICS, concurrency=8).run()
