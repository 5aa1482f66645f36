import { decodePacket } from '@svc/contract';
import { findSignatureFault, openPacketKey, openPacketSigner } from '@svc/jetstream';
import { eventually, useServers } from '@svc/testing';
import { generateKeyPairSync } from 'node:crypto';
import { connect } from 'nats';
import { createWorker, type Job, type Worker } from './index';
import { openScheduler } from './scheduler.fixture';

const newKey = () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    secret: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    pem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  };
};
const [services, next, own, stranger] = [newKey(), newKey(), newKey(), newKey()];

describe('a worker with the keys of the services', () => {
  const servers = useServers();
  let scheduler: Awaited<ReturnType<typeof openScheduler>>;
  let worker: Worker;
  let ran: Job[];
  let errors: string[];
  const sent: { kind: string; fault: string | undefined }[] = [];

  beforeEach(async () => {
    [ran, errors] = [[], []];
    scheduler = await openScheduler(servers.natsUrl, servers.redisUrl, eventually);
    worker = createWorker({
      id: 'w-1',
      topics: {
        'job.demo.echo': async (job) => {
          ran.push(job);
          job.progress(50);
          if (job.jobId === 'long') await new Promise((done) => job.signal.addEventListener('abort', done));
        },
      },
      natsUrl: servers.natsUrl,
      redisUrl: servers.redisUrl,
      signingKey: own.secret,
      serviceKeys: [services.pem, next.pem],
      sessions: false,
      signals: [],
      graceMs: 300,
      onError: (error, where) => errors.push(`${where}: ${String(error)}`),
    });
    await worker.start();
  });
  afterEach(async () => {
    await worker.stop();
    await scheduler.close();
  });

  const alerts = () => scheduler.of('alert').map(({ error_code_enum: code, details }) => [details['subject'], code]);
  const signAs = (key?: { secret: string }) => {
    const signer = key && openPacketSigner(key.secret);
    scheduler.signing.seal = (bytes) => signer?.seal(bytes) ?? bytes;
  };

  it('runs what they signed, also with the next key of a rotation, and signs all that it sends', async () => {
    const connection = await connect({ servers: servers.natsUrl });
    connection.subscribe('sys.>', {
      callback: (_, { data }) => {
        const decoded = decodePacket(data);
        if (decoded.kind !== 'ok' || decoded.packet.sender_id !== 'w-1') return;
        const fault = findSignatureFault(data, [openPacketKey(own.pem)], Date.now(), Date.now());
        sent.push({ kind: decoded.packet.kind, fault });
      },
    });
    await connection.flush();

    for (const [id, key] of [['a', services], ['b', next]] as const) {
      signAs(key);
      await scheduler.dispatch({ job_id: id }, { to: 'w-1' });
      expect(await scheduler.results(id)).toMatchObject([{ status: 5 }]);
    }

    await connection.close();
    expect(new Set(sent.map(({ kind }) => kind))).toEqual(new Set(['job_progress', 'job_result']));
    expect(new Set(sent.map(({ fault }) => fault))).toEqual(new Set([undefined]));
    expect(scheduler.of('handshake')[0]).toMatchObject({ capabilities: { signatures: true } });
    expect(errors).toEqual([]);
  }); // prettier-ignore

  it('refuses forged dispatches and cancels, and reports them', async () => {
    signAs(services);
    await scheduler.dispatch({ job_id: 'long' }, { to: 'w-1' });
    await eventually(() => expect(ran.map(({ jobId }) => jobId)).toEqual(['long']));

    signAs(stranger);
    scheduler.cancel('long');
    await scheduler.dispatch({ job_id: 'forged' });
    signAs();
    scheduler.cancel('long');
    await scheduler.dispatch({ job_id: 'unsigned' });
    await eventually(() => expect(alerts()).toHaveLength(2));
    signAs(services);
    scheduler.cancel('long');

    expect(await scheduler.results('long')).toMatchObject([{ status: 7 }]);
    await eventually(() => expect(alerts()).toHaveLength(4));
    expect(alerts().sort()).toEqual([
      ['job.demo.echo', 103],
      ['job.demo.echo', 104],
      ['sys.job.cancel', 103],
      ['sys.job.cancel', 104],
    ]);
    expect(ran.map(({ jobId }) => jobId)).toEqual(['long']);
    expect(errors).toHaveLength(4);
    await eventually(async () => expect(await scheduler.open('dur_job_demo_echo__job_demo_echo')).toBe(0));
  });
});

it('a worker with a key of another kind is not created', () => {
  const start = () => createWorker({ id: 'w-1', topics: { 'job.x': () => undefined }, signingKey: 'x', signals: [] });

  expect(start).toThrow('signingKey');
});
