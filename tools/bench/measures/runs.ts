import { stepCost } from '../run-costs';
import { runsAtGate, runTrips, startRun, untilSucceeded, type BenchWorkflow } from '../runs';
import type { Session } from '../session';
import { median, percentile } from '../statistics';

const inFlight = 64;

/** Steps per second of 64 clients that each wait for the end of their run before they start the next. */
export const stepsPerSec =
  (workflow: BenchWorkflow, steps: number) =>
  async (session: Session): Promise<number> => {
    const product = await session.workflows();
    await runTrips(product, workflow, inFlight, Math.ceil(session.sizes.runs / 10));
    const { rate } = await runTrips(product, workflow, inFlight, Math.ceil(session.sizes.runs / steps));
    return rate * steps;
  };

/** From the start of a run over 1,000 items, each a governed job, to its end, s; the median of five. */
export async function fanOut(session: Session): Promise<number> {
  const product = await session.workflows();
  const load = await product.openLoad(1);
  const seconds: number[] = [];
  try {
    await load.run(6, async (send, i) => {
      const sentMs = performance.now();
      const items = Array.from({ length: session.sizes.items }, (_, n) => n);
      await untilSucceeded(product, send, await startRun(product, send, 'bench-fan', { items }));
      // The first run is a warm-up.
      if (i > 0) seconds.push((performance.now() - sentMs) / 1_000);
    });
  } finally {
    load.close();
  }
  return median(seconds);
}

/** From the POST of an approval to the end of a run that waited only for it, ms. */
export async function approveResume(session: Session): Promise<number> {
  const product = await session.workflows();
  const ids = await runsAtGate(product, session.sizes.approvals);
  const load = await product.openLoad(1);
  const ms: number[] = [];
  try {
    await load.run(ids.length, async (send, i) => {
      const id = ids[i] ?? '';
      const sentMs = performance.now();
      const { status, body } = await send(product.post(`/api/v1/approvals/${id}:ask@1/approve`, {}, 'approver'));
      if (status !== 200) throw new Error(`an approval got status ${status}: ${body}`);
      await untilSucceeded(product, send, id);
      ms.push(performance.now() - sentMs);
    });
  } finally {
    load.close();
  }
  return percentile(ms, 0.5);
}

/** Redis memory of a run that waits at an approval step, including all its records, bytes. */
export async function gateBytes(session: Session): Promise<number> {
  const { bytes } = await session.gates();
  return bytes;
}

/** CPU per step with ten live runs, µs. */
export const stepCostFew = async (session: Session): Promise<number> => session.stepCost();

/** The same with 10,000 waiting runs. */
export async function stepCostMany(session: Session): Promise<number> {
  const product = await session.workflows();
  await session.gates();
  return stepCost(product, session.sizes.runs);
}

export const timerBytes = async (session: Session): Promise<number> => (await session.timers()).bytes;
export const timerRate = async (session: Session): Promise<number> => (await session.timers()).rate;
