"""A worker on sdk/python for tests. Serves job.demo.<SDK_PREFIX>*; prints `ready`, and `ran <job> <attempt>`.

On SIGUSR1 it renews its session at once, instead of at half its life, and prints `session`.
"""

import asyncio
import logging
import os
import signal

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


async def shown(job: Job) -> object:
    """Writes the prompt into a log line, a progress report and the partial output."""
    noted(job).log(f"connected with {job.prompt}", "warn")
    job.progress(40, f"using {job.prompt}")
    for token in ("Hello ", "wor", "ld, the key is ", job.prompt, " !"):
        job.stream(token)
    return {"done": True}


async def pay(job: Job) -> object:
    """Makes an effect, and fails once after it."""

    def charge() -> object:
        print(f"made {job.job_id} {job.attempt}", flush=True)
        return {"paid": True}

    first, second = await asyncio.gather(job.effect("charge", charge), job.effect("charge", charge))
    if job.attempt == 1:
        raise RetryableError("busy")
    return [first, second]


async def stuck(job: Job) -> object:
    """An effect that does not end."""

    async def charge() -> None:
        print(f"made {job.job_id} {job.attempt}", flush=True)
        await asyncio.sleep(600)

    return await job.effect("charge", charge)


async def renew(worker: Worker) -> None:
    session = worker._link.session
    if session is not None:
        await session.open()
    print("session", flush=True)


async def main() -> None:
    handlers = {"echo": echo, "flaky": flaky, "broken": broken, "slow": slow, "report": report, "shown": shown, "pay": pay, "stuck": stuck}
    worker = Worker(
        concurrency=8,
        heartbeat_sec=0.5,
        topics={f"{PREFIX}{name}": handler for name, handler in handlers.items()},
    )
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGUSR1, lambda: loop.create_task(renew(worker)))
    serving = asyncio.ensure_future(worker.serve())
    await worker.started.wait()
    print("ready", flush=True)
    await serving


logging.basicConfig(level=logging.INFO)
asyncio.run(main())
