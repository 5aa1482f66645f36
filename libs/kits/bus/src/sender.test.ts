import {
  consumers,
  encodePacket,
  heartbeatPacket,
  jobCancelPacket,
  jobResultPacket,
  sentBySubject,
  subjects,
  workerCancelSubject,
} from '@svc/contract';
import { eventually, useServers } from '@svc/testing';
import { connect } from 'nats';
import { quickOptions } from './bus.testing';
import { ack, openBus, type RefusedPacket } from './index';

const use = useServers();
const head = (sender_id: string) => ({ trace_id: 't', sender_id, nowUs: Date.now() * 1_000 });
const beat = (id: string) => encodePacket(heartbeatPacket(head(id), { worker_id: id, pool: 'main' }));

async function open() {
  const refused: RefusedPacket[] = [];
  const deps = { nowUs: () => Date.now() * 1_000, onMalformed: (packet: RefusedPacket) => void refused.push(packet) };
  const bus = await openBus(quickOptions(use.natsUrl), deps);
  await bus.ensureStreams();
  const sender = await connect({ servers: use.natsUrl });
  const close = async () => {
    await sender.close();
    await bus.drain();
  };
  return { bus, sender, refused, close };
}

describe('packets of workers whose server states them in the subject', () => {
  it('count when they name that worker, under the subject of the protocol, and are refused otherwise', async () => {
    const { bus, sender, refused, close } = await open();
    const seen: unknown[] = [];
    bus.subscribe(subjects.heartbeat, ({ subject, connection, packet }) => {
      seen.push([subject, connection, packet.sender_id]);
    });
    await bus.flush();

    for (const id of ['w2', 'w1']) sender.publish(sentBySubject('w1', 'sys.heartbeat'), beat(id));
    sender.publish('sys.heartbeat', beat('w3'));

    await eventually(() => expect(seen).toHaveLength(2));
    expect(seen).toEqual([
      ['sys.heartbeat', 'w1', 'w1'],
      ['sys.heartbeat', undefined, 'w3'],
    ]);
    expect(refused).toMatchObject([{ code: 202, reason: 'sender w2 on the connection of worker w1' }]);
    await close();
  });

  it('are shared by the consumers of a group when they are results, and count as handled when acknowledged', async () => {
    const { bus, sender, refused, close } = await open();
    const result = (id: string) => encodePacket(jobResultPacket(head(id), { job_id: id, worker_id: id, status: 5 }));
    const js = sender.jetstream();
    await js.publish(sentBySubject('w1', 'sys.job.result'), result('w2'));
    await js.publish(sentBySubject('w1', 'sys.job.result'), result('w1'));
    await js.publish('sys.job.result', result('w3'));
    const seen: string[] = [];

    bus.consume(consumers.schedulerResult, async ({ packet }) => (seen.push(packet.body.job_id), ack));

    await eventually(() => expect(seen.sort()).toEqual(['w1', 'w3']));
    expect(refused).toMatchObject([{ code: 202 }]);
    await eventually(async () => expect(await bus.isCaughtUp(consumers.schedulerResult, 100)).toBe(true));
    await js.publish(sentBySubject('w1', 'sys.job.result'), encodePacket(jobCancelPacket(head('w1'), { job_id: 'x' })));
    await eventually(() => expect(refused.map(({ code }) => code)).toEqual([202, 102]));
    await close();
  });

  it('are answered like others when they are requests, and in the name of another worker they are not', async () => {
    const { bus, sender, refused, close } = await open();
    bus.respond(subjects.workerChallenge.name, 'svc-scheduler', async (bytes) => bytes);
    await bus.flush();

    const reply = await sender.request(sentBySubject('w1', subjects.workerChallenge.name), 'x');

    expect(reply.string()).toBe('x');
    const request = (id: string) => sender.request(sentBySubject('w1', subjects.workerChallenge.name), beat(id), { timeout: 500 }); // prettier-ignore
    expect((await request('w1')).data).toHaveLength(beat('w1').length);
    await expect(request('w2')).rejects.toThrow('TIMEOUT');
    expect(refused).toMatchObject([{ code: 202, reason: 'sender w2 on the connection of worker w1' }]);
    await close();
  });
});

describe('a cancel', () => {
  it('is published for all workers, and for the one that it names', async () => {
    const { bus, sender, close } = await open();
    const seen: string[] = [];
    for (const subject of ['sys.job.cancel', workerCancelSubject('*')])
      sender.subscribe(subject, { callback: (_, message) => void seen.push(message.subject) });
    await sender.flush();
    const named = { dispatch_id: 'd', attempt: 1, assigned_worker_id: 'w1' };

    bus.publish('sys.job.cancel', jobCancelPacket(head('s'), { job_id: 'j', dispatch: named }));
    bus.publish('sys.job.cancel', jobCancelPacket(head('s'), { job_id: 'j' }));
    bus.publish('sys.job.cancel', jobCancelPacket(head('s'), { job_id: 'j', dispatch: { ...named, assigned_worker_id: 'a.b' } })); // prettier-ignore
    await bus.flush();

    await eventually(() => expect(seen.length).toBe(4));
    expect(seen.filter((subject) => subject !== 'sys.job.cancel')).toEqual(['worker.w1.cancel']);
    await close();
  });
});

describe('consumers of workers', () => {
  it('are created once, kept, and deleted', async () => {
    const { bus, sender, close } = await open();
    const manager = await sender.jetstreamManager();
    const names = async () => (await manager.consumers.list('SVC_JOBS').next()).map(({ name }) => name).sort();

    await bus.ensureWorkerConsumers(['w1', 'w2']);
    await bus.publishDurableBytes('worker.w1.jobs', Buffer.from('x'));
    await bus.ensureWorkerConsumers(['w1', 'w2', 'w3']);
    expect((await manager.consumers.info('SVC_JOBS', 'dur_w1__worker_w1_jobs')).num_pending).toBe(1);
    await bus.deleteWorkerConsumers(['w1', 'w2', 'unknown']);

    expect(await names()).toEqual(['dur_w3__worker_w3_jobs']);
    await close();
  });
});
