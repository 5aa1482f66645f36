"""A worker on the published package's high-level `Agent`, as its README shows. It does not echo the dispatch.

Serves job.demo.agent. Reads NATS_URL, REDIS_URL and WORKER_ID; prints `ready` once it has subscribed.
"""

import asyncio
import os

from cap.runtime import Agent, Context
from pydantic import BaseModel


class Input(BaseModel):
    prompt: str


class Output(BaseModel):
    echo: str


agent = Agent(worker_id=os.environ["WORKER_ID"], pool="demo", max_parallel=4, heartbeat_interval=0.5)


@agent.job("job.demo.agent", input_model=Input, output_model=Output)
async def echo(ctx: Context, data: Input) -> Output:
    return Output(echo=data.prompt)


async def main() -> None:
    await agent.start()
    print("ready", flush=True)
    try:
        await asyncio.Event().wait()
    finally:
        await agent.close()


if __name__ == "__main__":
    asyncio.run(main())
