import {
  consumers,
  decodePacket,
  heartbeatPacket,
  jobRequestPacket,
  jobResultPacket,
  subjects,
  topicConsumer,
  wire,
  workerConsumer,
  type Packet,
} from '@svc/contract';
import { eventually, startNats, type TestServer } from '@svc/testing';
import { connect } from 'nats';
import { quickOptions } from './bus.testing';
import {
  ack,
  nak,
  openBus,
  PublishError,
  term,
  type Bus,
  type BusDeps,
  type BusOptions,
  type RefusedPacket,
} from './index';

let nats: TestServer;
const open: Bus[] = [];

const options = (more: Partial<BusOptions> = {}): BusOptions => ({ ...quickOptions(nats.url), ...more });

async function bus(more: Partial<BusOptions> = {}, deps: Partial<BusDeps> = {}): Promise<Bus> {
  const opened = await openBus(options(more), { nowUs: () => Date.now() * 1_000, ...deps });
  open.push(opened);
  await opened.ensureStreams();
  return opened;
}

const head = { trace_id: 'trace-1', sender_id: 'gateway', nowUs: 1_790_000_000_000_000 };
const result = (job_id: string, attempt = 1) =>
  jobResultPacket(head, { job_id, worker_id: 'w-1', status: 5, dispatch: { attempt } });
const { jobResult } = subjects;

beforeEach(async () => {
  nats = await startNats();
});

afterEach(async () => {
  await Promise.all(open.splice(0).map((opened) => opened.drain()));
  await nats.stop();
});

describe('durable packets', () => {
  it('a packet reaches each group once, complete, with its trace', async () => {
    const one = await bus();
    const seen: Record<string, unknown[]> = { scheduler: [], engine: [] };
    const trace = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', tracestate: 'a=b' };
    one.consume(consumers.schedulerResult, async (delivery) => (seen['scheduler']?.push(delivery), ack));
    one.consume(consumers.engineResult, async (delivery) => (seen['engine']?.push(delivery), ack));

    const stored = await one.publishDurable(jobResult.name, result('j'), { trace });

    const bytes = expect.any(Uint8Array);
    const delivery = { subject: jobResult.name, bytes, deliveries: 1, streamSeq: 1, trace, packet: result('j') };
    await eventually(() => seen['scheduler']?.length === 1 && seen['engine']?.length === 1);
    expect(stored).toEqual({ stream: 'SVC_SYS', seq: 1, duplicate: false });
    expect(seen).toEqual({ scheduler: [delivery], engine: [delivery] });
  });

  it('a packet published before a consumer exists is delivered', async () => {
    const one = await bus();
    await one.publishDurable(jobResult.name, result('early'));
    const seen: string[] = [];

    one.consume(consumers.schedulerResult, async ({ packet }) => (seen.push(packet.body.job_id), ack));

    await eventually(() => seen.length === 1);
  });

  it('a repeated publish is stored once; another attempt is not a duplicate', async () => {
    const one = await bus();

    const answers = await Promise.all([
      one.publishDurable(jobResult.name, result('j', 1)),
      one.publishDurable(jobResult.name, result('j', 1)),
      one.publishDurable(jobResult.name, result('j', 2)),
    ]);

    expect(answers.map(({ duplicate }) => duplicate)).toEqual([false, true, false]);
  });

  it('thousands of concurrent publishes are confirmed', async () => {
    const one = await bus();

    const ids = Array.from({ length: 5_000 }, (_, i) => `j-${i}`);
    const answers = await Promise.all(ids.map((id) => one.publishDurable(jobResult.name, result(id))));

    expect(new Set(answers.map(({ seq }) => seq)).size).toBe(ids.length);
    expect(one.status().unconfirmed).toBe(0);
  });

  it('a publish on a subject without a stream is rejected', async () => {
    const one = await bus();

    const refused = one.publishDurable('sys.nowhere', result('j'));

    await expect(refused).rejects.toMatchObject({ reason: 'no_stream' });
    await expect(refused).rejects.toBeInstanceOf(PublishError);
  });

  it('two processes share one group’s messages', async () => {
    const [one, two] = [await bus(), await bus()];
    const seen: string[] = [];
    const count = { one: 0, two: 0 };
    one.consume(consumers.schedulerResult, async ({ packet }) => (seen.push(packet.body.job_id), count.one++, ack), {
      concurrency: 1,
    });
    two.consume(consumers.schedulerResult, async ({ packet }) => (seen.push(packet.body.job_id), count.two++, ack), {
      concurrency: 1,
    });

    await Promise.all(Array.from({ length: 500 }, (_, i) => one.publishDurable(jobResult.name, result(`j-${i}`))));

    await eventually(() => seen.length === 500);
    expect(new Set(seen).size).toBe(500);
    expect(count.one).toBeGreaterThan(0);
    expect(count.two).toBeGreaterThan(0);
  });

  it('concurrent handlers are limited', async () => {
    const one = await bus();
    let running = 0;
    let most = 0;
    let done = 0;
    one.consume(
      consumers.schedulerResult,
      async () => {
        most = Math.max(most, (running += 1));
        await new Promise((resume) => setTimeout(resume, 2));
        running -= 1;
        done += 1;
        return ack;
      },
      { concurrency: 3 },
    );

    await Promise.all(Array.from({ length: 60 }, (_, i) => one.publishDurable(jobResult.name, result(`j-${i}`))));

    await eventually(() => done === 60);
    expect(most).toBe(3);
  });
});

describe('redelivery', () => {
  it('a rejected message is redelivered, and its deliveries are counted', async () => {
    const one = await bus();
    const deliveries: number[] = [];
    one.consume(consumers.schedulerResult, async (delivery) => {
      deliveries.push(delivery.deliveries);
      return delivery.deliveries < 3 ? nak(10) : ack;
    });

    await one.publishDurable(jobResult.name, result('j'));

    await eventually(() => deliveries.length === 3);
    await eventually(() => one.status().inFlight === 0);
    expect(deliveries).toEqual([1, 2, 3]);
  });

  it('a handler that throws is reported, and its message is redelivered', async () => {
    const errors: unknown[] = [];
    const one = await bus({}, { onError: (error, where) => errors.push([where, String(error)]) });
    let deliveries = 0;
    one.consume(consumers.schedulerResult, async () => {
      deliveries += 1;
      if (deliveries === 1) throw new Error('boom');
      return ack;
    });

    await one.publishDurable(jobResult.name, result('j'));

    await eventually(() => deliveries === 2);
    expect(errors).toEqual([['dur_svc-scheduler__sys_job_result', 'Error: boom']]);
  });

  it('messages of a crashed consumer are redelivered to another', async () => {
    const [dead, alive] = [await bus({ ackWaitMs: 300 }), await bus({ ackWaitMs: 300 })];
    let held = 0;
    // It sends neither an acknowledgement nor progress: its connection is closed.
    dead.consume(consumers.schedulerResult, async () => {
      held += 1;
      return new Promise(() => undefined);
    });
    await alive.publishDurable(jobResult.name, result('j'));
    await eventually(() => held === 1);
    open.splice(open.indexOf(dead), 1);
    await dead.abandon();

    const seen: number[] = [];
    alive.consume(consumers.schedulerResult, async ({ deliveries }) => (seen.push(deliveries), ack));

    await eventually(() => seen.length === 1);
    expect(seen[0]).toBeGreaterThan(1);
  });

  it('a handler that runs longer than the ack wait keeps its message', async () => {
    // If the process stalled for two thirds of the wait, the server would rightly redeliver.
    const one = await bus({ ackWaitMs: 2_000 });
    const deliveries: number[] = [];
    one.consume(consumers.schedulerResult, async (delivery) => {
      deliveries.push(delivery.deliveries);
      await new Promise((resume) => setTimeout(resume, 5_000));
      return ack;
    });

    await one.publishDurable(jobResult.name, result('slow'));

    await eventually(() => deliveries.length > 0);
    await eventually(() => one.status().inFlight === 0);
    expect(deliveries).toEqual([1]);
  });

  it('a message over its delivery limit is passed to the dead-letter hook, and again while the hook fails', async () => {
    const errors: unknown[] = [];
    const one = await bus({}, { onError: (error) => errors.push(error) });
    const exhausted: number[] = [];
    let handled = 0;
    one.consume(consumers.schedulerResult, async () => ((handled += 1), nak(1)), {
      maxDeliveries: 2,
      onExhausted: async ({ deliveries }) => {
        exhausted.push(deliveries);
      },
    });

    await one.publishDurable(jobResult.name, result('poison'));

    await eventually(() => exhausted.length === 1);
    await eventually(() => one.status().inFlight === 0);
    expect([handled, exhausted]).toEqual([2, [2]]);
  });
});

/** Delivered and unacknowledged messages. */
async function pending(durable: string): Promise<number> {
  const connection = await connect({ servers: nats.url });
  const { num_ack_pending } = await (await connection.jetstreamManager()).consumers.info('SVC_SYS', durable);
  await connection.close();
  return num_ack_pending;
}

describe('rejected packets', () => {
  const raw = (text: string) => Buffer.from(text);
  const alerts = (one: Bus) => {
    const seen: Record<string, string>[] = [];
    one.subscribe(subjects.alert, ({ packet }) => void seen.push({ ...packet.body.details, code: packet.body.code }));
    return seen;
  };

  it.each([
    ['another version', { protocol_version: 2, job_result: { job_id: 'j' } }, 100],
    ['no payload', { protocol_version: 1 }, 102],
    ['a result without its worker', { protocol_version: 1, job_result: { job_id: 'j', status: 5 } }, 101],
  ])('%s: dropped, counted, reported once, and the next one is processed', async (_, packet, code) => {
    const refused: RefusedPacket[] = [];
    const one = await bus({}, { onMalformed: (refusal) => refused.push(refusal) });
    const seen: string[] = [];
    const reported = alerts(one);
    one.consume(consumers.schedulerResult, async ({ packet }) => (seen.push(packet.body.job_id), ack));

    await one.publishDurableBytes(jobResult.name, wire.BusPacket.encode(packet).finish());
    await one.publishDurable(jobResult.name, result('good'));

    await eventually(() => seen.length === 1 && reported.length === 1);
    expect(refused).toMatchObject([{ code, subject: jobResult.name, streamSeq: 1 }]);
    await eventually(async () => (await pending(consumers.schedulerResult.durable)) === 0);
    expect(reported).toMatchObject([{ subject: jobResult.name, stream_seq: '1' }]);
  });

  it('a packet of another subject is dropped', async () => {
    const one = await bus();
    const reported = alerts(one);
    one.consume(consumers.schedulerSubmit, async () => ack);

    await one.publishDurable('sys.job.submit', result('j'));

    await eventually(() => reported.length === 1);
    expect(reported).toMatchObject([{ code: 'ERROR_CODE_UNKNOWN_PAYLOAD', sender_id: 'gateway' }]);
  });

  it('on core NATS invalid packets are dropped, and the subscription continues', async () => {
    const refused: RefusedPacket[] = [];
    const one = await bus({}, { onMalformed: (packet) => refused.push(packet) });
    const seen: string[] = [];
    one.subscribe(subjects.heartbeat, ({ packet }) => void seen.push(packet.body.worker_id));

    for (let i = 0; i < 100; i++) one.publishBytes(subjects.heartbeat.name, raw(`junk ${i}`));
    one.publish(subjects.heartbeat.name, heartbeatPacket(head, { worker_id: 'w-1' }));

    await eventually(() => seen.length === 1);
    expect(refused).toHaveLength(100);
  });
});

describe('the connection', () => {
  it('survives a server restart: confirmed messages are kept, and consumers resume', async () => {
    const events: string[] = [];
    const one = await bus({}, { onConnection: (event) => events.push(event) });
    const seen = new Set<string>();
    one.consume(consumers.schedulerResult, async ({ packet }) => (seen.add(packet.body.job_id), ack));
    await one.publishDurable(jobResult.name, result('before'));

    await nats.kill();
    await eventually(() => !one.status().isConnected);
    await expect(one.publishDurable(jobResult.name, result('during'))).rejects.toMatchObject({ reason: 'timeout' });
    await nats.start();
    // A recovering server may not respond to the first attempts, each of which waits 5 s.
    await eventually(() => one.status().isConnected, { withinMs: 40_000 });
    await one.publishDurable(jobResult.name, result('during'));

    await eventually(() => seen.has('before') && seen.has('during'), { withinMs: 40_000 });
    expect(events).toEqual(['disconnected', 'reconnected']);
    expect(one.status()).toMatchObject({ reconnects: 1, unconfirmed: 0 });
  }, 120_000);

  it('draining finishes started messages and leaves the others', async () => {
    const [one, two] = [await bus(), await bus()];
    const begun: string[] = [];
    const ended: string[] = [];
    let letGo: () => void = () => undefined;
    const gate = new Promise<void>((resume) => (letGo = resume));
    one.consume(
      consumers.schedulerResult,
      async ({ packet }) => {
        begun.push(packet.body.job_id);
        await gate;
        ended.push(packet.body.job_id);
        return ack;
      },
      { concurrency: 1 },
    );
    await two.publishDurable(jobResult.name, result('first'));
    await eventually(() => begun.length === 1);

    open.splice(open.indexOf(one), 1);
    const drained = one.drain();
    letGo();
    await drained;
    // A message in flight to it at this moment would be redelivered only after the ack wait.
    await two.publishDurable(jobResult.name, result('second'));

    expect(ended).toEqual(['first']);
    const seen: string[] = [];
    two.consume(consumers.schedulerResult, async ({ packet }) => (seen.push(packet.body.job_id), ack));
    await eventually(() => seen.length === 1);
    expect(seen).toEqual(['second']);
  });
});

describe('streams', () => {
  it('store the durable subjects only; creating them again is a no-op', async () => {
    const one = await bus();
    await Promise.all([one.ensureStreams(), (await bus()).ensureStreams()]);
    const connection = await connect({ servers: nats.url });
    const manager = await connection.jetstreamManager();

    const kept = await Promise.all(
      ['SVC_SYS', 'SVC_JOBS'].map(async (name) => (await manager.streams.info(name)).config),
    );
    await connection.close();

    expect(kept.map(({ subjects: listed, duplicate_window }) => [listed, duplicate_window])).toEqual([
      [['sys.job.submit', 'sys.job.result', 'sys.job.dlq', 'sys.audit.export', 'worker.*.sys.job.result'], 120e9],
      [['job.>', 'worker.*.jobs'], 120e9],
    ]);
  });

  it('changed settings are updated', async () => {
    await bus();
    await bus({ maxAgeMs: 7_200_000 });
    const connection = await connect({ servers: nats.url });

    const { config } = await (await connection.jetstreamManager()).streams.info('SVC_SYS');
    await connection.close();

    expect(config.max_age).toBe(7_200_000 * 1e6);
  });

  it('jobs of a worker and of a topic are stored for their consumers', async () => {
    const one = await bus();
    const seen: string[] = [];
    const note = async ({ subject }: { subject: string }) => (seen.push(subject), ack);
    const job = jobRequestPacket(head, { job_id: 'j', topic: 'job.media.cut' });
    await one.publishDurable('worker.w-1.jobs', job, { msgId: 'a' });
    await one.publishDurable('job.media.cut', job, { msgId: 'b' });

    one.consume(workerConsumer('w-1'), note);
    one.consume(topicConsumer('job.media.*'), note);

    await eventually(() => seen.length === 2);
    expect(seen.sort()).toEqual(['job.media.cut', 'worker.w-1.jobs']);
  });
});

describe('without JetStream', () => {
  it('the same calls work on core NATS, with queue groups', async () => {
    const [one, two] = [await bus({ jetstream: false }), await bus({ jetstream: false })];
    const seen: string[] = [];
    const note = async ({ packet }: { packet: Packet }) => (seen.push(packet.trace_id), term('not read'));
    one.consume(consumers.schedulerResult, note);
    two.consume(consumers.schedulerResult, note);
    await Promise.all([one.flush(), two.flush()]);

    await one.publishDurable(jobResult.name, result('j'));

    await eventually(() => seen.length > 0);
    await Promise.all([one.flush(), two.flush()]);
    expect(seen).toEqual(['trace-1']);
  });

  it('a tap receives every subject of a pattern, undecoded', async () => {
    const one = await bus();
    const seen: unknown[] = [];
    one.tap('sys.job.>', ({ subject, bytes }) => seen.push([subject, decodePacket(bytes).kind]));
    await one.flush();

    await one.publishDurable(jobResult.name, result('j'));

    await eventually(() => seen.length === 1);
    expect(seen).toEqual([[jobResult.name, 'ok']]);
  });
});
