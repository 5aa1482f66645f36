import { FatalError, type Job, type JobHandler } from '@svc/worker-sdk';

/** More than this the harbour's account does not hold: paying it fails for good. */
const purseEuro = 5_000;

/** What a step gave its job as input. */
const given = (job: Job): Record<string, unknown> => (job.context ?? {}) as Record<string, unknown>;

/** From 1 to 100 kg, the same for the same crate. */
export function kgOf(crate: string): number {
  let sum = 0;
  for (const char of crate) sum = (sum * 31 + (char.codePointAt(0) ?? 0)) % 100;
  return sum + 1;
}

/** The work that examples/workflows ask for: quick, and the same result for the same input. */
export const exampleHandlers: Readonly<Record<string, JobHandler>> = {
  'job.demo.weigh': (job) => ({ kg: kgOf(String(given(job)['crate'])) }),
  'job.demo.label': (job) => {
    const { text, colour = 'white' } = given(job);
    return { printed: text, colour };
  },
  'job.demo.book': (job) => ({ booked: given(job)['what'] }),
  'job.demo.unbook': (job) => ({ undone: given(job)['what'] }),
  'job.demo.stow': (job) => ({ tilt: Number(given(job)['tilt']) / 2 }),
  'job.demo.pay': (job) => {
    const euro = Number(given(job)['euro']);
    if (euro > purseEuro) throw new FatalError(`${euro} EUR is more than there is`);
    return { paid: euro };
  },
  'job.demo.ask': (job) => ({ question: given(job)['question'] }),
};
