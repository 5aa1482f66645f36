import {
  ComponentRole,
  decodeTrustPacket,
  encodeTrustPacket,
  handshakeAudience,
  HandshakePurpose,
  HandshakeRejection,
  type HandshakeStep,
  handshakeTranscript,
  ProofAlgorithm,
  type TrustPacket,
} from '@svc/contract';
import { openSessionTokens } from '@svc/identity';
import { isSignedBy, openPacketKey, openPacketSigner } from '@svc/jetstream';
import { eventually } from '@svc/testing';
import { WorkerTrustRepository, type TrustMode } from '@svc/worker-trust';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { connect, type NatsConnection } from 'nats';
import { listRefusals, type Scheduler } from './refusals.testing';
import { useScheduler } from './use-scheduler.testing';
import { giveCredential } from './worker-credentials.testing';

const newKey = () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    secret: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    pem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  };
};
const [services, own, stranger] = [newKey(), newKey(), newKey()];
const { keyId } = openPacketSigner(own.secret);

const use = useScheduler();
const start = (sdkHandshake: TrustMode) => use.start({ env: { sdkHandshake, packetSigningKey: services.secret } });
const refused = (scheduler: Scheduler, ...expected: string[]) =>
  eventually(async () => expect(await listRefusals(scheduler)).toEqual(expect.arrayContaining(expected)));
const session = async () => (await new WorkerTrustRepository(use.redis).records(['w1'])).get('w1')?.session;
/** Ids of the sessions whose end w1 was notified of. */
const notices = () =>
  use.packets.flatMap(({ subject, packet }) =>
    subject === 'worker.w1.jobs' && packet.kind === 'worker_handshake_result' ? [packet.trace_id] : [],
  );
const revoke = () => new WorkerTrustRepository(use.redis).revokeSession('*', 'w1');

/** A worker whose credential has the key, which the schedulers have read. */
async function trusted(...schedulers: Scheduler[]): Promise<void> {
  await giveCredential(use.store, { worker: 'w1', keys: [own.pem] });
  await Promise.all(schedulers.map(({ ctx }) => ctx.trust.sync()));
}

describe('sessions', () => {
  it('an SDK worker gets one before its first heartbeat, and its packets contain the token', async () => {
    const scheduler = await start('enforce');
    await trusted(scheduler);
    const errors: unknown[] = [];
    await use.worker({
      id: 'w1',
      signingKey: own.secret,
      serviceKeys: [services.pem],
      onError: (error) => errors.push(error),
    });

    await use.until(await use.submit(), 'SUCCEEDED');

    expect([errors, await listRefusals(scheduler)]).toEqual([[], []]);
    expect(await scheduler.metrics()).toContain('svc_scheduler_worker_handshakes_total{outcome="issued"');
  });

  it('a revoked one is refused by every scheduler within a second, and its jobs are retried elsewhere', async () => {
    const schedulers = [await start('warn'), await start('warn')] as const;
    await trusted(...schedulers);
    const token = await handshake().then(({ auth_token }) => auth_token);
    const worker = await use.rawWorker({ id: 'w1', packetToken: token });
    await eventually(() => expect(schedulers.map(({ ctx }) => ctx.registry.has('w1'))).toEqual([true, true]));
    const id = await use.submit();
    const request = await worker.dispatched(id);

    await revoke();

    await use.until(id, 'RETRYING');
    await worker.answer(request);
    await eventually(async () => {
      worker.shake();
      for (const scheduler of schedulers)
        expect(await listRefusals(scheduler)).toContain('handshake session_revoked enforce');
    });
    expect((await use.job(id)).state).not.toBe('SUCCEEDED');
  });

  it('an SDK worker whose session was revoked proves its key again within a second, and runs jobs', async () => {
    const scheduler = await start('enforce');
    await trusted(scheduler);
    const errors: string[] = [];
    const onError = (error: unknown) => errors.push(String(error));
    await use.worker({ id: 'w1', signingKey: own.secret, serviceKeys: [services.pem], heartbeatMs: 60_000, onError });
    await use.until(await use.submit(), 'SUCCEEDED');
    const before = await session();

    await revoke();

    await eventually(async () => expect((await session())?.jti).not.toBe(before?.jti));
    await use.until(await use.submit(), 'SUCCEEDED');
    expect([errors.length, errors[0]]).toEqual([1, expect.stringContaining('ended the session of this worker')]);
    expect(notices()).toEqual([before?.jti]);
  });

  it('a worker that received no notice gets one when its session is refused', async () => {
    const scheduler = await start('warn');
    await trusted(scheduler);
    const { auth_token: token } = await handshake();
    await scheduler.stop();
    await revoke();
    // This scheduler never knew the session as valid.
    const later = await start('warn');
    const worker = await use.rawWorker({ id: 'w1', silent: true, packetToken: token });

    worker.shake();
    worker.shake();

    await refused(later, 'handshake session_revoked enforce');
    const ended = (await session())?.jti;
    await eventually(() => expect(notices()).toEqual([ended]));
  });

  it('a new token replaces the one before it, which stays valid for packets under way', async () => {
    const scheduler = await start('enforce');
    await trusted(scheduler);
    const first = await handshake();
    const second = await handshake({ token: first.auth_token });
    const third = await handshake({ token: second.auth_token });

    const outcome = async (packetToken: string) => {
      const worker = await use.rawWorker({ id: 'w1', silent: true, packetToken });
      worker.shake({ topics: [`job.${packetToken.slice(-5)}`] });
      await worker.connection.flush();
    };
    await outcome(third.auth_token);
    await outcome(second.auth_token);
    await use.bus.flush();
    expect(await listRefusals(scheduler)).toEqual([]);
    // Until it has read the third session, the first one is the previous one.
    await scheduler.ctx.trust.sync();
    await outcome(first.auth_token);
    await refused(scheduler, 'handshake session_invalid enforce');
  });

  it('tokens that are missing, of another worker, expired or signed by others are refused', async () => {
    const scheduler = await start('enforce');
    await trusted(scheduler);
    await giveCredential(use.store, { worker: 'w2', keys: [stranger.pem] });
    const { auth_token: token } = await handshake();
    const [head = '', claims = ''] = token.split('.');
    const forged = openSessionTokens(stranger.secret).issue(JSON.parse(Buffer.from(claims, 'base64url').toString()));
    const nowSec = Math.floor(Date.now() / 1_000);
    const old = JSON.parse(Buffer.from(claims, 'base64url').toString());
    const expired = openSessionTokens(services.secret).issue({ ...old, iat: nowSec - 7_200, exp: nowSec - 3_600 });

    const shake = async (id: string, packetToken: string) => (await use.rawWorker({ id, silent: true, packetToken })).shake();
    await shake('w1', '');
    await refused(scheduler, 'handshake session_required enforce');
    await shake('w2', token);
    await shake('w1', forged);
    await shake('w1', `${head}.${claims}.`);
    await refused(scheduler, 'handshake session_invalid enforce');
    await shake('w1', expired);
    await refused(scheduler, 'handshake session_expired enforce');
  }); // prettier-ignore

  it('an attested worker with a session announces only its topics, also where sessions only warn', async () => {
    const env = { sdkHandshake: 'warn', workerAttestation: 'enforce', packetSigningKey: services.secret } as const;
    const scheduler = await use.start({ env });
    await trusted(scheduler);
    const { auth_token: token } = await handshake();

    const worker = await use.rawWorker({ id: 'w1', silent: true, packetToken: token });
    worker.shake({ topics: ['job.work', 'other.topic'] });

    await refused(scheduler, 'handshake topic_not_allowed enforce');
  });
});

describe('heartbeats that are telemetry only', () => {
  it('a worker has the pool of its credential and the capabilities that it declared when it proved its key', async () => {
    const env = { sdkHandshake: 'warn', packetSigningKey: services.secret, heartbeatMode: 'telemetry' } as const;
    const scheduler = await use.start({ env });
    await trusted(scheduler);
    const worker = {
      pool: 'other',
      serviceKeys: [services.pem],
      capabilities: ['GPU', 'a form that no handshake takes'],
    };
    await use.worker({ id: 'w1', signingKey: own.secret, ...worker });

    await use.until(await use.submit(), 'SUCCEEDED', { worker_id: 'w1' });

    expect(scheduler.ctx.registry.records()).toMatchObject([{ pool: 'main', capabilities: ['gpu', 'signatures'] }]);
    await refused(scheduler, 'heartbeat pool_differs enforce', 'heartbeat capabilities_differ enforce');
  });
});

describe('the trust handshake', () => {
  it('a challenge is used once', async () => {
    await trusted(await start('warn'));
    const connection = await connect({ servers: use.servers.natsUrl });
    const challenge = await ask(connection, 'challenge', 'CHALLENGE-REQUEST', request());
    const answer = authenticate(challenge);

    const first = await ask(connection, 'authenticate', 'AUTHENTICATE', answer);
    const second = await ask(connection, 'authenticate', 'AUTHENTICATE', answer);

    expect(first.worker_handshake_result?.accepted).toBe(true);
    expect(rejection(second)).toBe('REPLAY_DETECTED');
    await connection.close();
  });

  it('a worker has one open challenge: a newer one replaces it, a repeated request does not', async () => {
    await trusted(await start('warn'));
    const connection = await connect({ servers: use.servers.natsUrl });
    const first = await ask(connection, 'challenge', 'CHALLENGE-REQUEST', request());
    const asked = request();
    const second = await ask(connection, 'challenge', 'CHALLENGE-REQUEST', asked);

    const repeated = await ask(connection, 'challenge', 'CHALLENGE-REQUEST', asked);
    const late = await ask(connection, 'authenticate', 'AUTHENTICATE', authenticate(first));
    const current = await ask(connection, 'authenticate', 'AUTHENTICATE', authenticate(second));

    expect([repeated, late].map(rejection)).toEqual(['REPLAY_DETECTED', 'REPLAY_DETECTED']);
    expect(current.worker_handshake_result?.accepted).toBe(true);
    await connection.close();
  });

  it('steps over the rate get no answer and are counted; other workers are answered', async () => {
    const [scheduler, other] = [await start('warn'), await start('warn')];
    await trusted(scheduler, other);
    await giveCredential(use.store, { worker: 'w2', keys: [own.pem] });
    await Promise.all([scheduler, other].map(({ ctx }) => ctx.trust.sync()));
    const connection = await connect({ servers: use.servers.natsUrl });
    const asking = (sender_id: string) => {
      const packet = { ...request({ worker_id: sender_id }), sender_id };
      return ask(connection, 'challenge', 'CHALLENGE-REQUEST', packet, own, 0, 1_000).then(
        ({ worker_handshake_challenge: challenge }) => (challenge ? 'answered' : 'rejected'),
        () => 'none',
      );
    };

    // Both schedulers together: the limit of one worker is counted in Redis.
    const answers = await Promise.all(Array.from({ length: 40 }, () => asking('w1')));

    expect(answers.filter((one) => one === 'answered')).toHaveLength(20);
    expect(answers.filter((one) => one === 'none')).toHaveLength(20);
    expect(await asking('w2')).toBe('answered');
    const texts = await Promise.all([scheduler, other].map(({ metrics }) => metrics()));
    const limited = texts.map((text) =>
      Number(/handshakes_total\{outcome="limited"[^}]*\} (\d+)/.exec(text)?.[1] ?? 0),
    );
    expect(limited.reduce((a, b) => a + b)).toBe(20);
    await connection.close();
  });

  it.each<[reason: string, change: object, signer: { secret: string }]>([
    ['AUTHENTICATION_FAILED', {}, stranger],
    ['AUTHENTICATION_FAILED', { worker_id: 'w9' }, own],
    ['AUTHENTICATION_FAILED', { proof_key_id: 'another' }, own],
    ['INVALID_REQUEST', { audience: 'svc-gateway' }, own],
    ['INVALID_REQUEST', { client_nonce: randomBytes(31) }, own],
    ['INVALID_REQUEST', { request_id: '' }, own],
    ['INVALID_REQUEST', { trace_id: 'another' }, own],
    ['UNSUPPORTED_VERSION', { protocol_version: 2 }, own],
    ['SESSION_REQUIRED', { purpose: HandshakePurpose.WORKER_HANDSHAKE_PURPOSE_RENEW }, own],
  ])('a request is rejected with %s: %j', async (reason, change, signer) => {
    await trusted(await start('warn'));
    const connection = await connect({ servers: use.servers.natsUrl });
    const { worker_id: sender_id = 'w1' } = change as { worker_id?: string };

    const packet = { ...request(change), sender_id };
    const answer = await ask(connection, 'challenge', 'CHALLENGE-REQUEST', packet, signer);

    expect(rejection(answer)).toBe(reason);
    expect(answer.auth_token).toBe('');
    await connection.close();
  });

  it.each<[reason: string, change: (challenge: Challenge) => object, ageMs: number]>([
    ['AUTHENTICATION_FAILED', (challenge) => ({ challenge: { ...challenge, tenant_id: 'globex' } }), 0],
    ['REPLAY_DETECTED', (challenge) => ({ challenge: { ...challenge, challenge_id: 'another' } }), 0],
    ['INVALID_REQUEST', () => ({ capability_handshake: { component_id: 'w2' } }), 0],
    ['CLOCK_SKEW', () => ({}), 61_000],
  ])('an answer is rejected with %s', async (reason, change, ageMs) => {
    await trusted(await start('warn'));
    const connection = await connect({ servers: use.servers.natsUrl });
    const challenge = await ask(connection, 'challenge', 'CHALLENGE-REQUEST', request());
    const packet = authenticate(challenge);
    const proof = {
      ...packet.worker_handshake_authenticate,
      ...change(packet.worker_handshake_authenticate.challenge),
    };

    const late = { ...packet, worker_handshake_authenticate: proof };
    const answer = await ask(connection, 'authenticate', 'AUTHENTICATE', late, own, ageMs);

    expect(rejection(answer)).toBe(reason);
    await connection.close();
  });
});

type Challenge = NonNullable<TrustPacket['worker_handshake_challenge']>;

const request = (over: object = {}) => ({
  sender_id: 'w1',
  trace_id: 'trace-1',
  worker_handshake_challenge_request: {
    ...{ request_id: 'r-1', trace_id: 'trace-1', worker_id: 'w1', proof_key_id: keyId, audience: handshakeAudience },
    proof_algorithm: ProofAlgorithm.WORKER_HANDSHAKE_PROOF_ALGORITHM_ECDSA_P256_SHA256,
    purpose: HandshakePurpose.WORKER_HANDSHAKE_PURPOSE_ISSUE as number,
    ...{ client_nonce: randomBytes(32), protocol_version: 1, sdk_version: '1.0.0' },
    ...over,
  },
});

function authenticate({ worker_handshake_challenge: challenge }: TrustPacket) {
  if (!challenge) throw new Error('no challenge');
  const capability_handshake = {
    component_id: 'w1',
    role: ComponentRole.COMPONENT_ROLE_WORKER,
    supported_versions: [1],
    capabilities: { signatures: true },
  };
  return { sender_id: 'w1', trace_id: 'trace-1', worker_handshake_authenticate: { challenge, capability_handshake } };
}

const rejection = ({ worker_handshake_result: result }: TrustPacket): string =>
  HandshakeRejection[result?.rejection_reason ?? 0]?.replace('WORKER_HANDSHAKE_REJECTION_REASON_', '') ?? '';

/** Sends one step, signed. Verifies that the services signed the answer. */
async function ask(
  connection: NatsConnection,
  subject: 'challenge' | 'authenticate',
  step: HandshakeStep,
  payload: object,
  signer: { secret: string } = own,
  ageMs = 0,
  timeout = 5_000,
): Promise<TrustPacket> {
  const created_at = { seconds: Math.floor((Date.now() - ageMs) / 1_000), nanos: 1_000_000 };
  const packet = { protocol_version: 1, created_at, ...payload };
  const signature = openPacketSigner(signer.secret).sign(handshakeTranscript('SVC', step, packet));
  const reply = await connection.request(
    `sys.worker.handshake.${subject}`,
    encodeTrustPacket({ ...packet, signature }),
    { timeout },
  );
  const answer = decodeTrustPacket(reply.data);
  if (!answer) throw new Error('the answer cannot be read');
  const signed = handshakeTranscript('SVC', answer.worker_handshake_result ? 'RESULT' : 'CHALLENGE', answer);
  expect(isSignedBy(signed, answer.signature, openPacketKey(services.pem).key)).toBe(true);
  return answer;
}

/** A complete handshake. @returns the accepted result */
async function handshake({ token = '' } = {}): Promise<TrustPacket> {
  const connection = await connect({ servers: use.servers.natsUrl });
  const purpose = token
    ? HandshakePurpose.WORKER_HANDSHAKE_PURPOSE_RENEW
    : HandshakePurpose.WORKER_HANDSHAKE_PURPOSE_ISSUE;
  const auth = token ? { auth_token: token } : {};
  const challenge = await ask(connection, 'challenge', 'CHALLENGE-REQUEST', { ...request({ purpose }), ...auth });
  const answer = await ask(connection, 'authenticate', 'AUTHENTICATE', { ...authenticate(challenge), ...auth });
  await connection.close();
  expect(answer.worker_handshake_result?.accepted).toBe(true);
  return answer;
}
