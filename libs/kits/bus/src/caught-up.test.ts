import { consumers, jobRequestPacket, jobResultPacket, subjects, workerConsumer } from '@svc/contract';
import { eventually, startNats, type TestServer } from '@svc/testing';
import { quickOptions } from './bus.testing';
import { ack, openBus, type Bus } from './index';

let nats: TestServer;
let bus: Bus;
const head = { trace_id: 'trace-1', sender_id: 'w-1', nowUs: 1_790_000_000_000_000 };
const result = (job_id: string) =>
  jobResultPacket(head, { job_id, worker_id: 'w-1', status: 5, dispatch: { attempt: 1 } });
const { jobResult, jobSubmit } = subjects;
const spec = consumers.schedulerResult;

beforeEach(async () => {
  nats = await startNats();
  bus = await openBus(quickOptions(nats.url), { nowUs: () => Date.now() * 1_000 });
  await bus.ensureStreams();
});
afterEach(async () => {
  await bus.drain();
  await nats.stop();
});

describe('a durable consumer', () => {
  it('is caught up once all messages stored before the call are acknowledged, regardless of others', async () => {
    const release: (() => void)[] = [];
    let isHeld = true;
    bus.consume(spec, async () => {
      if (isHeld) await new Promise<void>((resume) => release.push(resume));
      return ack;
    });
    await bus.publishDurable(jobResult.name, result('j1'));
    await eventually(() => expect(release).toHaveLength(1));

    expect(await bus.isCaughtUp(spec, 0)).toBe(false);
    const waiting = bus.isCaughtUp(spec, 15_000);
    isHeld = false;
    for (const resume of release) resume();
    expect(await waiting).toBe(true);

    await bus.publishDurable(jobSubmit.name, jobRequestPacket(head, { job_id: 'j2', topic: 'job.work' }));
    expect(await bus.isCaughtUp(spec, 0)).toBe(true);
  });

  it('is not caught up while messages are pending', async () => {
    const consumption = bus.consume(spec, async () => ack);
    await bus.publishDurable(jobResult.name, result('j1'));
    await eventually(async () => expect(await bus.isCaughtUp(spec, 0)).toBe(true));
    await consumption.stop();

    await bus.publishDurable(jobResult.name, result('j2'));

    expect(await bus.isCaughtUp(spec, 0)).toBe(false);
  });
});

describe('a withdrawn message', () => {
  it('is not delivered, and withdrawing it again is a no-op', async () => {
    const own = workerConsumer('w-1');
    const dispatch = (job_id: string) =>
      bus.publishDurable(own.subject, jobRequestPacket(head, { job_id, topic: 'job.work' }));
    const first = await dispatch('j1');
    await dispatch('j2');

    await bus.withdraw(first);
    await bus.withdraw(first);

    const received: string[] = [];
    bus.consume(own, async ({ packet }) => (received.push(packet.body.job_id), ack));
    await eventually(() => expect(received).toEqual(['j2']));
  });
});
