import { decodePacket, maxPacketBytes, subjects, type PayloadKind } from '@svc/contract';
import { eventually, fuzzed, fuzzTimeoutMs } from '@svc/testing';
import fc from 'fast-check';
import { connect, type NatsConnection } from 'nats';
import { useScheduler } from '../use-scheduler.testing';
import { brokenPacket, hostilePacket, packetBytes, payloadKinds } from './packets.testing';

const use = useScheduler();
jest.setTimeout(2 * fuzzTimeoutMs());

/** Subjects that the scheduler subscribes to, with their payloads. */
const subscribed = [
  subjects.jobSubmit,
  subjects.jobResult,
  subjects.heartbeat,
  subjects.handshake,
  subjects.jobProgress,
];
const everywhere = [...new Set([...subscribed, ...Object.values(subjects)].map(({ name }) => name))];
/** No packet can name this pool, so a valid job is never dispatched to a worker invented by a packet. */
const pools = {
  topics: { 'job.good': ['good-pool'], 'job.>': ['main'] },
  pools: Object.fromEntries(
    ['good-pool', 'main'].map((name) => [name, { name, requires: [], status: 'active' as const, description: '' }]),
  ),
};
/** Failures other than store timeouts, which a flood can cause on a busy machine and which are retried. */
const surprises = ({ defects }: { readonly defects: readonly unknown[] }): unknown[] =>
  defects.filter((defect) => !(Array.isArray(defect) && /Command timed out/.test(String(defect[1]))));
const seeded = ({ seed, numRuns }: ReturnType<typeof fuzzed>) => ({ seed, numRuns });

describe('fuzzed packets', () => {
  let bus: NatsConnection;

  beforeEach(async () => {
    bus = await connect({ servers: use.servers.natsUrl });
  });
  afterEach(() => bus.close());

  /** Samples of a generator; packets are sent without pauses. */
  const some = <T>(arbitrary: fc.Arbitrary<T>, count: number): T[] => fc.sample(arbitrary, seeded(fuzzed(count)));

  async function start() {
    const scheduler = await use.start({ pools });
    await use.rawWorker({ id: 'good-worker', pool: 'good-pool', max: 50, answers: () => ['SUCCEEDED'] });
    return scheduler;
  }

  async function goodJobCompletes(): Promise<void> {
    await use.until(await use.submit({ topic: 'job.good' }), 'SUCCEEDED');
  }

  /** Rejected packets so far, by the metric. */
  async function refused(scheduler: { metrics(): Promise<string> }): Promise<number> {
    const text = await scheduler.metrics();
    const counts = text.matchAll(/^svc_scheduler_validation_rejections_total\{[^}]*reason="ERROR_CODE_[^}]*\} (\d+)/gm);
    return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
  }

  /** Whether the contract's decoder rejects the packet for a subject: unreadable, invalid or of another payload. */
  const mustRefuse = (bytes: Uint8Array, payload: string) => {
    const decoded = decodePacket(bytes);
    return decoded.kind !== 'ok' || decoded.packet.kind !== payload;
  };

  it('that are readable do not stop the scheduler', async () => {
    const scheduler = await start();
    const jobs = [await use.submit({ topic: 'job.work' }), await use.submit({ topic: 'job.work' })];
    const choices = { job_id: jobs, worker_id: ['w1', 'w2'], component_id: ['w1'], topic: ['job.work'], tenant_id: ['acme'], pool: ['main'] }; // prettier-ignore
    await use.rawWorker({ id: 'w1', max: 5 });

    for (const { name, payload } of subscribed) {
      const readable = some(hostilePacket(payload, choices), 60).filter((bytes) => !mustRefuse(bytes, payload));
      expect(readable.length).toBeGreaterThan(20);
      for (const bytes of readable) bus.publish(name, bytes);
    }
    await bus.flush();

    await goodJobCompletes();
    await everythingIsSettled();
    expect(surprises(scheduler)).toEqual([]);
  });

  it('that are malformed or on the wrong subject are counted, reported and dropped', async () => {
    const scheduler = await start();
    let expected = 0;

    for (const { name, payload } of subscribed) {
      const others = payloadKinds.filter((kind) => kind !== payload);
      const packets = [
        ...some(brokenPacket(payload), 25),
        ...others.flatMap((kind: PayloadKind) => some(hostilePacket(kind, {}), 2)),
      ].filter((bytes) => mustRefuse(bytes, payload));
      expected += packets.length;
      for (const bytes of packets) bus.publish(name, bytes);
    }
    await bus.flush();

    await goodJobCompletes();
    // Unreadable packets are redelivered twice, 5 s apart, since a newer replica may be able to read them.
    await eventually(async () => expect(await refused(scheduler)).toBe(expected), { withinMs: 30_000, everyMs: 100 });
    await everythingIsSettled();
    const alerts = use.bodies('alert', subjects.alert.name);
    expect(alerts.length).toBeGreaterThan(0);
    for (const { message } of alerts) expect(message).toMatch(/^packet refused: ./);
    expect(surprises(scheduler)).toEqual([]);
  });

  it('of the maximum size are counted, reported and dropped', async () => {
    const scheduler = await start();
    const half = 'x'.repeat(maxPacketBytes / 2 - 200);
    const bytes = packetBytes({ sender_id: half, trace_id: half, job_progress: { percent: 1 } });

    for (const { name } of subscribed) bus.publish(name, bytes);
    await bus.flush();

    await eventually(async () => expect(await refused(scheduler)).toBe(subscribed.length));
    await eventually(() => expect(use.bodies('alert', subjects.alert.name)).toHaveLength(subscribed.length));
    await goodJobCompletes();
    await everythingIsSettled();
    expect(surprises(scheduler)).toEqual([]);
  });

  it('with half a surrogate pair in every text do not stop a job from completing', async () => {
    const scheduler = await start();
    const half = 'x\ud800';
    const texts = {
      prompt: half,
      team_id: half,
      labels: { [half]: half },
      tags: [half],
      risk_tags: [half],
      principal_id: half,
    };

    const id = await use.submit({ ...texts, topic: 'job.good', context: { [half]: [half] }, idempotency_key: half });

    await use.until(id, 'SUCCEEDED');
    expect(surprises(scheduler)).toEqual([]);
  });

  it('on every other subject, with any headers, cause no failure', async () => {
    const scheduler = await start();

    for (const name of everywhere) {
      for (const bytes of some(fc.uint8Array({ maxLength: 100 }), 3))
        bus.publish(name, bytes, { reply: 'no.subscriber' });
    }
    await bus.flush();

    await goodJobCompletes();
    expect(surprises(scheduler)).toEqual([]);
  });

  /** No message waits for an acknowledgement that never comes. */
  async function everythingIsSettled(): Promise<void> {
    const manager = await bus.jetstreamManager();
    await eventually(
      async () => {
        for await (const { name, num_pending, num_ack_pending } of manager.consumers.list('SVC_SYS')) {
          if (!name.includes('svc-scheduler')) continue;
          expect({ name, num_pending, num_ack_pending }).toEqual({ name, num_pending: 0, num_ack_pending: 0 });
        }
      },
      { withinMs: 20_000, everyMs: 100 },
    );
  }
});
