import { consumers, jobResultPacket, subjects } from '@svc/contract';
import { eventually, startNats, type TestServer } from '@svc/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { quickOptions } from './bus.testing';
import { ack, openBus, type Bus } from './index';

/** Longer than the client's timeout of a consumer request. */
const hangsMs = 6_000;

describe('a server that hangs right after a reconnect', () => {
  let nats: TestServer;
  let bus: Bus;
  let isHanging = false;

  beforeEach(async () => {
    nats = await startNats();
    const onConnection = (event: string) => {
      if (event !== 'reconnected') return;
      process.kill(nats.pid, 'SIGSTOP');
      isHanging = true;
    };
    bus = await openBus(quickOptions(nats.url), { nowUs: () => Date.now() * 1_000, onConnection });
    await bus.ensureStreams();
  });
  afterEach(async () => {
    await bus.drain();
    await nats.stop();
  });

  it('resumes delivery as soon as it responds', async () => {
    const received: string[] = [];
    bus.consume(consumers.schedulerResult, async ({ packet }) => (received.push(packet.body.job_id), ack));
    const publish = (job_id: string) => {
      const head = { trace_id: '', sender_id: 'w-1', nowUs: 1_790_000_000_000_000 };
      return bus.publishDurable(
        subjects.jobResult.name,
        jobResultPacket(head, { job_id, worker_id: 'w-1', status: 5 }),
      );
    };
    await publish('before');
    await eventually(() => received.includes('before'));

    await nats.kill();
    await nats.start();
    await eventually(() => isHanging);
    await sleep(hangsMs);
    process.kill(nats.pid, 'SIGCONT');
    await publish('after');

    // The client itself would wait half a minute before it retries.
    await eventually(() => received.includes('after'), { withinMs: 10_000 });
  }, 60_000);
});
