import {
  canonicalMessage,
  encodeJobRequest,
  type JobRequest,
  type JobRequestDraft,
  jobRequestPacket,
} from '@svc/contract';
import { openGrantSigner } from '@svc/jetstream';
import { generateKeyPairSync } from 'node:crypto';
import { Grants, withApprovedInput } from './grants';
import { workerSettings } from './options';
import type { GrantOptions } from './types';

const signer = openGrantSigner(generateKeyPairSync('ed25519').privateKey);
const nowMs = 1_800_000_000_000;
const identity = { jobId: 'j1', dispatchId: 'd1', attempt: 1 };
const facts = {
  ...identity,
  tenant: 'acme',
  workerId: 'w1',
  approval: 'not_required',
  decision: 'ALLOW',
  policySnapshot: '',
  jobHash: '',
} as const;
const head = { trace_id: '', sender_id: 's', nowUs: nowMs * 1_000 };
const draft = { job_id: 'j1', topic: 'job.x', tenant_id: 'acme' };
const request = jobRequestPacket(head, draft).body as JobRequest;
const packet = signer.seal(encodeJobRequest(head, canonicalMessage(draft) as JobRequestDraft), facts, nowMs);
const open = (options: GrantOptions = {}) => {
  const settings = {
    keys: [signer.publicKeyPem],
    mode: 'enforce',
    require: 'all',
    approvalTopics: [],
    ...options,
  } as const;
  const warnings: string[] = [];
  const grants = new Grants(settings, 'w1', ({ message }) => warnings.push(message));
  return { use: (atMs = nowMs) => grants.use(packet, request, identity, atMs), grants, warnings };
};

it('a grant is used once, until a run that ended without a result releases it', () => {
  const { use, grants } = open();

  expect(use()).toMatchObject({ approval: 'not_required' });
  expect(() => use(nowMs + 600_000)).toThrow(expect.objectContaining({ code: 'grant_used' }) as Error);
  grants.release(identity);
  expect(use()).toMatchObject({ approval: 'not_required' });
});

it('a refusal is reported; warn mode runs the job', () => {
  const late = nowMs + 3_600_000;
  const { use, warnings } = open({ mode: 'warn' });

  expect(use(late)).toBeUndefined();
  expect(() => open().use(late)).toThrow(expect.objectContaining({ name: 'RetryableError' }) as Error);
  expect(warnings).toEqual(['the grant of the dispatch has expired']);
});

it('the hash of an approved input replaces that of the submitter', () => {
  const sha256 = Buffer.alloc(32, 1);
  const ref = {
    resolver_id: '',
    uri: 'redis://ctx:j1',
    sha256: Buffer.alloc(32, 2),
    media_type: '',
    size_bytes: 9,
    purpose: '',
  };
  const grant = { ...facts, inputSha256: sha256.toString('hex') };

  expect(withApprovedInput({ ...request, context_ref: ref }, grant).context_ref).toEqual({ ...ref, sha256 });
  expect(withApprovedInput(request, grant).context_ref).toMatchObject({ uri: '', sha256 });
  expect(withApprovedInput(request, facts)).toBe(request);
});

describe('the options of grants', () => {
  const settings = (grants: GrantOptions | undefined, env: NodeJS.ProcessEnv = {}) =>
    workerSettings({ id: 'w', topics: { 'job.x': () => undefined }, ...(grants && { grants }) }, env).grants;

  it('enforce with keys, also with those of the environment, and are off without', () => {
    expect(settings(undefined)).toMatchObject({ mode: 'off', require: 'all' });
    expect(settings(undefined, { SVC_GRANT_PUBLIC_KEYS: signer.publicKeyPem.repeat(2) })).toMatchObject({
      mode: 'enforce',
    });
    expect(settings({ keys: [signer.publicKeyPem] }, { WORKER_GRANTS: 'warn' })).toMatchObject({ mode: 'warn' });
  });

  it.each([
    [{ keys: ['x'] }, {}, 'Ed25519'],
    [{ mode: 'enforce' }, {}, 'needs grants.keys'],
    [undefined, { WORKER_GRANTS: 'yes' }, 'WORKER_GRANTS'],
  ] as const)('are refused: %j %j', (options, env, message) => {
    expect(() => settings(options, env)).toThrow(message);
  });
});
