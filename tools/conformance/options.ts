import { parseArgs } from 'node:util';
import { checks } from './checks';
import type { SessionOptions, TopicUse } from './session';

export const usage = `usage: npm run conformance -- --pool P [options] [-- command of the worker]

Checks that a worker follows docs/reference/worker-protocol.md. Without --nats-url it starts a NATS and a Redis of its
own, and prints their addresses. A worker that is given as a command is started with NATS_URL, REDIS_URL and SVC_POOL,
and must stay in the foreground; otherwise start it yourself.

  --pool P            pool that the worker joins
  --worker ID         worker to check; default: the first of the pool that announces itself
  --nats-url URL      NATS to use, with JetStream. Not one whose pool serves real jobs
  --redis-url URL     Redis to use
  --echo-topic T      jobs succeed, and return the prompt; default job.conformance.echo
  --slow-topic T      jobs take context.seconds unless cancelled; default job.conformance.slow
  --fail-topic T      jobs fail; default job.conformance.fail
  --topic T           the same as --echo-topic
  --pid PID           process of the worker, for the check that it drains on SIGTERM; at the end it is stopped
  --only ID,...       run only these checks: ${checks.map(({ id }) => id).join(', ')}
  --answer-sec N      time for the answer to a job; default 10
  --settle-sec N      time after which something that did not happen counts as not happening; default 2
  --slow-sec N        duration of slow jobs; default 2
  --grace-sec N       grace period of cancels, in whole seconds; default 5
  --wait-sec N        time for the first heartbeat, and then for a handshake unless all topics are named; default 60
  --json              report as JSON on standard output
  --junit FILE        report also in the format of JUnit

Exit code: 0 when no check failed, 1 when one failed or no worker was found, 2 for wrong options.`;

export interface Options {
  session: Omit<SessionOptions, 'process'>;
  natsUrl?: string;
  redisUrl?: string;
  pid?: number;
  command: string[];
  only: string[];
  json: boolean;
  junit?: string;
}

/** An error whose message is shown with the usage. */
export class OptionError extends Error {}

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const table = {
  pool: text, worker: text, 'nats-url': text, 'redis-url': text, topic: text, 'echo-topic': text, 'slow-topic': text,
  'fail-topic': text, pid: text, only: text, 'answer-sec': text, 'settle-sec': text, 'slow-sec': text, 'grace-sec': text, 'wait-sec': text,
  junit: text, json: flag, help: flag,
} as const; // prettier-ignore

/** @returns undefined when help was requested @throws OptionError */
export function readOptions(args: string[]): Options | undefined {
  const { values, positionals } = parse(args);
  if (values.help) return undefined;
  const { pool, worker, topic, junit } = values;
  if (!pool) throw new OptionError('--pool is required');
  const named: Partial<Record<TopicUse, string | undefined>> = {
    echo: values['echo-topic'] ?? topic,
    slow: values['slow-topic'],
    fail: values['fail-topic'],
  };
  const uses = ['echo', 'slow', 'fail'] as const;
  const topics = { echo: 'job.conformance.echo', slow: 'job.conformance.slow', fail: 'job.conformance.fail' };
  for (const use of uses) topics[use] = named[use] ?? topics[use];
  const only = (values.only ?? '').split(',').filter(Boolean);
  const unknown = only.find((id) => !checks.some((check) => check.id === id));
  if (unknown !== undefined) throw new OptionError(`there is no check ${unknown}`);
  const natsUrl = values['nats-url'];
  const redisUrl = values['redis-url'];
  if (Boolean(natsUrl) !== Boolean(redisUrl)) throw new OptionError('--nats-url and --redis-url belong together');
  const pid = values.pid === undefined ? undefined : whole('pid', values.pid);
  if (pid !== undefined && positionals.length > 0) throw new OptionError('--pid and a command exclude each other');
  return {
    session: {
      pool,
      ...(worker && { workerId: worker }),
      topics,
      named: new Set(uses.filter((use) => named[use])),
      answerMs: 1_000 * positive('answer-sec', values['answer-sec'] ?? '10'),
      settleMs: 1_000 * positive('settle-sec', values['settle-sec'] ?? '2'),
      slowSec: positive('slow-sec', values['slow-sec'] ?? '2'),
      graceSec: whole('grace-sec', values['grace-sec'] ?? '5'),
      waitMs: 1_000 * positive('wait-sec', values['wait-sec'] ?? '60'),
    },
    ...(natsUrl && { natsUrl }),
    ...(redisUrl && { redisUrl }),
    ...(pid !== undefined && { pid }),
    command: positionals,
    only,
    json: values.json ?? false,
    ...(junit && { junit }),
  };
}

function parse(args: string[]) {
  try {
    return parseArgs({ args, options: table, allowPositionals: true });
  } catch (error) {
    throw new OptionError(error instanceof Error ? error.message : String(error));
  }
}

/** Cancels state their grace period in whole seconds. */
function whole(name: string, value: string): number {
  const number = positive(name, value);
  if (!Number.isInteger(number)) throw new OptionError(`--${name} must be a whole number from 1, not ${value}`);
  return number;
}

function positive(name: string, value: string): number {
  const number = Number(value);
  if (!(number > 0 && number < 1e6)) throw new OptionError(`--${name} must be a number above 0, not ${value}`);
  return number;
}
