import { FatalError, type Job, type JobHandler } from '@svc/worker-sdk';

/** Balance of the harbour's account: paying more fails without retry. */
const purseEuro = 5_000;

/** Input of the job of a step. */
const given = (job: Job): Record<string, unknown> => (job.context ?? {}) as Record<string, unknown>;

/** Weight from 1 to 100 kg, deterministic per crate. */
export function weighCrate(crate: string): number {
  let sum = 0;
  for (const char of crate) sum = (sum * 31 + (char.codePointAt(0) ?? 0)) % 100;
  return sum + 1;
}

/** Handlers of the topics in examples/workflows: fast and deterministic. */
export const exampleHandlers: Readonly<Record<string, JobHandler>> = {
  'job.demo.weigh': (job) => ({ kg: weighCrate(String(given(job)['crate'])) }),
  'job.demo.label': (job) => {
    const { text, colour = 'white' } = given(job);
    return { printed: text, colour };
  },
  'job.demo.book': (job) => ({ booked: given(job)['what'] }),
  'job.demo.unbook': (job) => ({ undone: given(job)['what'] }),
  'job.demo.stow': (job) => ({ tilt: Number(given(job)['tilt']) / 2 }),
  'job.demo.pay': (job) => {
    const euro = Number(given(job)['euro']);
    if (euro > purseEuro) throw new FatalError(`${euro} EUR exceeds the balance`);
    return { paid: euro };
  },
  'job.demo.ask': (job) => ({ question: given(job)['question'] }),
};
