import { decodePacket, encodePacket, jobRequestPacket, splitGrant, type JobRequest } from '@svc/contract';
import { openGrantKey, openGrantSigner, verifyGrant } from '@svc/jetstream';
import { eventually } from '@svc/testing';
import type { GrantOptions, Job } from '@svc/worker-sdk';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { allowAll, ruled, useScheduler } from './use-scheduler.testing';

const newKey = () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return {
    secret: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    pem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    signer: openGrantSigner(privateKey),
  };
};
const [services, next, stranger] = [newKey(), newKey(), newKey()];
const signing = { env: { grantSigningKey: services.secret } };

describe('workers that verify grants', () => {
  const use = useScheduler();
  let ran: Job[];
  let dispatches: { bytes: Uint8Array; request: JobRequest }[];

  beforeEach(() => {
    [ran, dispatches] = [[], []];
    use.bus.tap('worker.>', ({ bytes }) => {
      const decoded = decodePacket(bytes);
      if (decoded.kind === 'ok' && decoded.packet.kind === 'job_request') {
        dispatches.push({ bytes, request: decoded.packet.body });
      }
    });
  });

  const worker = (grants: GrantOptions = {}, id = 'w1') =>
    use.worker({
      id,
      grants: { keys: [next.pem, services.pem], ...grants },
      topics: {
        'job.>': (job) => {
          ran.push(job);
          return { echo: job.prompt };
        },
      },
    });
  const verified = (at = 0) => {
    const { bytes, request } = dispatches[at] ?? { bytes: new Uint8Array(), request: undefined };
    const received = {
      tenant: request?.tenant_id ?? '',
      jobId: request?.job_id ?? '',
      dispatchId: request?.dispatch?.dispatch_id ?? '',
      attempt: request?.dispatch?.attempt ?? 0,
      workerId: 'w1',
    };
    return verifyGrant(bytes, [openGrantKey(services.pem)], received, Date.now());
  };
  /** Publishes to the worker what a client of the bus can write: a dispatch without, or with its own grant. */
  const forge = async (more: object = {}, seal = (bytes: Uint8Array) => bytes) => {
    const id = randomUUID();
    const head = { trace_id: 't', sender_id: 'scheduler-1', nowUs: Date.now() * 1_000 };
    const dispatch = { dispatch_id: randomUUID(), attempt: 1, assigned_worker_id: 'w1' };
    const request = { job_id: id, topic: 'job.work', tenant_id: 'acme', dispatch, ...more };
    await use.bus.publishDurableBytes('worker.w1.jobs', seal(encodePacket(jobRequestPacket(head, request))));
    return id;
  };
  const refusal = async (jobId: string) => {
    const [result] = await eventually(() => {
      const results = use.bodies('job_result', 'sys.job.result', jobId);
      expect(results).toHaveLength(1);
      return results;
    });
    return result?.error_code;
  };

  it('run an approved job, whose grant names the approver, the policy and the request', async () => {
    await use.start({ ...signing, policy: ruled('require_approval') });
    await worker();
    const id = await use.submit({ prompt: 'deploy' });
    await use.until(id, 'APPROVAL_REQUIRED');
    expect(dispatches).toEqual([]);

    await use.approve(id);

    const job = await use.until(id, 'SUCCEEDED');
    expect(ran.map(({ prompt }) => prompt)).toEqual(['deploy']);
    expect(verified()).toMatchObject({
      kind: 'valid',
      facts: {
        approval: 'granted',
        decision: 'REQUIRE_APPROVAL',
        jobHash: job.approval?.job_hash,
        policySnapshot: job.approval?.policy_snapshot,
        approver: { name: job.approval?.resolved_by, role: 'admin' },
        inputSha256: job.approval?.input_hash,
      },
    });
  });

  it('run a permitted job, whose grant says that no approval was required', async () => {
    await use.start({ ...signing, policy: allowAll });
    await worker();

    await use.until(await use.submit(), 'SUCCEEDED');

    expect(verified()).toMatchObject({ kind: 'valid', facts: { approval: 'not_required', decision: 'ALLOW' } });
  });

  it('refuse what the services did not grant, whatever labels it has, and report why', async () => {
    await use.start(signing);
    await worker();
    const facts = {
      tenant: 'acme',
      jobId: 'other',
      dispatchId: 'other',
      attempt: 1,
      workerId: 'w1',
      approval: 'granted',
      decision: 'ALLOW',
      policySnapshot: '',
      jobHash: '',
    } as const;

    const plain = await forge();
    const labelled = await forge({ labels: { approval_granted: 'true' } });
    const signed = await forge({}, (bytes) => stranger.signer.seal(bytes, facts, Date.now()));
    const moved = await forge({}, (bytes) => services.signer.seal(bytes, facts, Date.now()));

    const codes = await Promise.all([plain, labelled, signed, moved].map(refusal));
    expect(codes).toEqual(['grant_missing', 'grant_missing', 'grant_invalid', 'grant_invalid']);
    expect(ran).toEqual([]);
  });

  it('run a dispatch once, however often its message is published', async () => {
    await use.start(signing);
    await worker();
    const id = await use.submit();
    await use.until(id, 'SUCCEEDED');

    await use.bus.publishDurableBytes('worker.w1.jobs', dispatches[0]?.bytes ?? new Uint8Array());

    await eventually(() => expect(use.bodies('job_result', 'sys.job.result', id)).toHaveLength(2));
    expect(ran).toHaveLength(1);
  });

  it('refuse jobs of an approval topic that policy permitted without an approval', async () => {
    await use.start({ ...signing, policy: allowAll });
    await worker({ require: 'approved', approvalTopics: ['job.deploy.>'] });

    const deploy = await use.submit({ topic: 'job.deploy.prod' });
    const other = await use.submit({ topic: 'job.other' });

    await use.until(deploy, 'FAILED', { error_code: 'approval_required' });
    await use.until(other, 'SUCCEEDED');
    expect(ran.map(({ topic }) => topic)).toEqual(['job.other']);
  });

  it('with require: approved, run a dispatch without a grant unless its topic or its labels need one', async () => {
    await use.start();
    await worker({ require: 'approved', approvalTopics: ['job.deploy.>'] });

    await use.until(await use.submit(), 'SUCCEEDED');
    const codes = [await forge({ topic: 'job.deploy.x' }), await forge({ labels: { approval_granted: 'true' } })];

    expect(await Promise.all(codes.map(refusal))).toEqual(['grant_missing', 'grant_missing']);
    expect(ran).toHaveLength(1);
  });

  it('refuse an input that changed after it was approved', async () => {
    const { ctx } = await use.start({ ...signing, policy: ruled('require_approval') });
    await worker();
    const id = await use.submit({ prompt: 'approved' });
    await use.until(id, 'APPROVAL_REQUIRED');
    const { publishDurable } = ctx.bus;
    // Between the check of the scheduler and the read of the worker.
    jest.spyOn(ctx.bus, 'publishDurable').mockImplementation(async (subject, packet) => {
      if (subject === 'worker.w1.jobs') await use.redis.set(`ctx:${id}`, JSON.stringify({ prompt: 'other' }));
      return publishDurable.call(ctx.bus, subject, packet);
    });

    await use.approve(id);

    await use.until(id, 'FAILED', { error_code: 'integrity_check_failed' });
    expect(ran).toEqual([]);
  });

  it('in warn mode run everything', async () => {
    await use.start();
    await worker({ mode: 'warn' });

    await use.until(await use.submit(), 'SUCCEEDED');

    expect(ran).toHaveLength(1);
  });

  it('get a grant only where they announce it, and only where a key is set', async () => {
    await use.start(signing);
    await use.worker({ id: 'w1' });

    await use.until(await use.submit(), 'SUCCEEDED');

    expect(splitGrant(dispatches[0]?.bytes ?? new Uint8Array())?.grant).toHaveLength(0);
  });
});
