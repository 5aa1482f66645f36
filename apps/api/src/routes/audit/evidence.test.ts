import type { EvidenceData, EvidenceManifest } from '@svc/evidence-format';
import { keys } from '@svc/store';
import { createHash } from 'node:crypto';
import { verifyArchive } from 'svc-verify';
import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';
import type { Who } from '../../identities.testing';
import { createRunClient } from '../runs/given-runs.testing';
import { auditKeys, evidenceClient, readJson, readTexts } from './evidence.testing';

const api = useApi({ env: { ...auditKeys.env, SVC_AUDIT_HMAC_KEY: 'h'.repeat(32) } });
const evidence = evidenceClient(api);
const runs = createRunClient(api);
beforeEach(() => api.license('enterprise'));

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');
const readManifest = (archive: Buffer) => readJson<EvidenceManifest>(archive, 'manifest.json');
const lines = async (archive: Buffer) => {
  const texts = (await readTexts(archive))['chain/events.ndjson'] ?? '';
  return texts.trimEnd().split('\n').map((line) => JSON.parse((JSON.parse(line) as { text: string }).text) as Record<string, unknown>);
}; // prettier-ignore

describe('POST /api/v1/audit/evidence', () => {
  it('200: a bundle about a job: events, decisions, approvals and hashes, which is verified without the service', async () => {
    const other = await api.given.job({ state: 'SUCCEEDED', result: { text: 'other' } });
    const id = await api.given.job({ state: 'APPROVAL_REQUIRED', prompt: 'move the crane' });
    expect((await api.as('boss').post(`/api/v1/approvals/${id}/approve`, { reason: 'it is safe' })).status).toBe(200);

    const { archive, headers } = await evidence.get({ kind: 'job', id });
    const report = await verifyArchive(archive, { keys: [auditKeys.publicKey] });
    expect(report).toMatchObject({ isVerified: true, faults: [], warnings: [] });
    expect(headers).toMatchObject({
      'content-disposition': expect.stringMatching(/^attachment; filename="evidence-job-[\w-]+\.tgz"$/),
      'x-svc-evidence-events': String(report.events.length),
      'x-svc-evidence-sha256': sha256(archive),
    });
    expect(await readManifest(archive)).toMatchObject({
      tenant_id: 'acme',
      subject: { kind: 'job', id },
      requested_by: { identity: 'ann', role: 'admin' },
      includes_content: false,
    });
    const found = await lines(archive);
    expect(found.map(({ action }) => action)).toEqual(expect.arrayContaining(['job.submit', 'approval.approve']));
    expect(found.every(({ job_id }) => job_id === id)).toBe(true);
    expect(await readJson(archive, 'approvals.json')).toMatchObject([
      { job_id: id, status: 'approved', resolved_by: 'bob', reason: 'it is safe', resolved_at: expect.any(Number) },
    ]);
    expect(await readJson(archive, 'decisions.json')).toMatchObject(expect.arrayContaining([expect.objectContaining({ job_id: id, decision: 'REQUIRE_APPROVAL' })]));
    const input = await api.store.redis.getBuffer(keys.context(id));
    expect(await readJson(archive, 'data.json')).toEqual([
      { job_id: id, role: 'input', pointer: `redis://ctx:${id}`, sha256: sha256(input ?? ''), bytes: input?.length },
    ]);
    expect((await readJson<{ decided_by: object[] }>(archive, 'policies.json')).decided_by.length).toBeGreaterThan(0);
    const all = Object.values(await readTexts(archive)).join('\n');
    expect(all).not.toContain('move the crane');
    expect(all).not.toContain(other);
  }); // prettier-ignore

  it('200: a bundle about a run has its jobs and the version of its workflow', async () => {
    await runs.workflow({ load: { topic: 'job.default', input: { note: 'a note' } } });
    const id = await runs.run({ amount: 3 });

    const { archive } = await evidence.get({ kind: 'run', id });
    expect(await verifyArchive(archive, { keys: [auditKeys.publicKey] })).toMatchObject({ isVerified: true, faults: [] });
    expect(await readJson(archive, 'workflow.json')).toMatchObject({ id: 'intake', version: 1, document_sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(await readJson(archive, 'record.json')).toMatchObject({ kind: 'run', id, run: { workflow_id: 'intake', workflow_version: 1 } });
    expect((await lines(archive)).map(({ event_type }) => event_type)).toContain('run.transition');
  }); // prettier-ignore

  it('200: a bundle about an agent has the events of its jobs in the time that is given', async () => {
    const id = await api.given.job({ request: { agent_id: 'agent-7' } });
    await api.given.job({ request: { agent_id: 'agent-8' } });

    const { archive } = await evidence.get({ kind: 'agent', id: 'agent-7' });
    expect((await lines(archive)).map(({ job_id }) => job_id)).toEqual([id]);
    const past = { kind: 'agent', id: 'agent-7', from: '2020-01-01T00:00:00Z', to: '2020-01-02T00:00:00Z' };
    expect(statusAndCode(await evidence.ask(past))).toEqual({ status: 404, code: 'evidence_subject_not_found' });
  });

  it('200: the chain alone is enough for a job whose record has expired', async () => {
    const id = await api.given.job({ state: 'SUCCEEDED' });
    await evidence.get({ kind: 'job', id });
    await api.store.redis.del(keys.job(id), keys.context(id), keys.result(id));

    const { archive } = await evidence.get({ kind: 'job', id });
    expect(await verifyArchive(archive, { keys: [auditKeys.publicKey] })).toMatchObject({ isVerified: true, faults: [] });
    expect(await readJson(archive, 'record.json')).toMatchObject({ jobs: [], missing_jobs: [id] });
    expect((await lines(archive)).map(({ action }) => action)).toEqual(expect.arrayContaining(['job.submit', 'job.succeed']));
  }); // prettier-ignore

  it('200: events are proved to the earliest checkpoint that covers them, and that one to the newest', async () => {
    const id = await api.given.job({ state: 'SUCCEEDED' });
    await evidence.get({ kind: 'job', id: await api.given.job() });
    const end = String(Date.now());
    await api.given.jobs(3);

    const { archive } = await evidence.get({ kind: 'job', id, to: end });
    const { covering, newest, consistency } = await readJson<Record<string, { seq: number }> & { consistency: string[] }>(archive, 'chain/checkpoints.json');
    expect(covering?.seq).toBeLessThan(newest?.seq ?? 0);
    expect(consistency.length).toBeGreaterThan(0);
    expect(await verifyArchive(archive, { keys: [auditKeys.publicKey] })).toMatchObject({ isVerified: true });
  }); // prettier-ignore

  it('200: content only when asked for, and never what output policy withholds', async () => {
    const given = { prompt: 'move the crane', result: { text: 'moved it' } };
    const done = await api.given.job({ state: 'SUCCEEDED', ...given });
    const withheld = await api.given.job({ state: 'OUTPUT_QUARANTINED', prompt: 'x', result: { text: 'withheld words' } });
    const content = async (id: string, include_content: boolean) => {
      const { archive } = await evidence.get({ kind: 'job', id, include_content });
      expect(await verifyArchive(archive, { keys: [auditKeys.publicKey] })).toMatchObject({ isVerified: true, faults: [] });
      return { all: Object.values(await readTexts(archive)).join('\n'), data: await readJson<EvidenceData[]>(archive, 'data.json') };
    };

    const with_ = await content(done, true);
    expect(with_.all).toContain('move the crane');
    expect(with_.all).toContain('moved it');
    expect((await content(done, false)).all).not.toMatch(/move the crane|moved it/);
    const { all, data } = await content(withheld, true);
    expect(all).not.toContain('withheld words');
    expect(data.find(({ role }) => role === 'output')).toMatchObject({ withheld: true, sha256: expect.any(String), note: expect.stringContaining('withholds') });
  }); // prettier-ignore

  it('is recorded before it is sent, with the hash of the archive', async () => {
    const id = await api.given.job();

    const { archive } = await evidence.get({ kind: 'job', id });
    const { body } = await api.as('admin').get('/api/v1/audit/events?event_type=audit.export');
    expect(body['items']).toMatchObject([
      {
        action: 'audit.evidence',
        identity: 'ann',
        extra: { resource_type: 'job', resource_id: id, archive_sha256: sha256(archive), includes_content: 'false' },
      },
    ]);
    // The next bundle about the job says who got the first one.
    expect((await lines((await evidence.get({ kind: 'job', id })).archive)).map(({ action }) => action)).toContain('audit.evidence');
  }); // prettier-ignore

  it('404 for a job of another tenant, whatever the role, and 403 for its chain', async () => {
    const id = await api.given.job();
    for (const kind of ['job', 'run', 'agent', 'session']) {
      const answer = await evidence.ask({ kind, id }, 'other');
      expect(statusAndCode(answer)).toEqual({ status: 404, code: kind === 'job' ? 'evidence_subject_not_found' : expect.any(String) });
    }
    expect(statusAndCode(await evidence.ask({ kind: 'job', id, tenant: 'acme' }, 'other'))).toMatchObject({ status: 403, code: 'tenant_access_denied' });
    const { archive } = await evidence.get({ kind: 'job', id, tenant: 'acme' }, 'everywhere');
    expect(await readManifest(archive)).toMatchObject({ tenant_id: 'acme' });
  }); // prettier-ignore

  it.each<Who>(['operator', 'user', 'viewer', 'clerk'])('403 for the role %s', async (who) => {
    const id = await api.given.job();

    expect(statusAndCode(await evidence.ask({ kind: 'job', id }, who))).toEqual({ status: 403, code: 'access_denied' });
  });

  it('403 without the entitlement', async () => {
    api.license('community');
    const id = await api.given.job();

    expect(statusAndCode(await evidence.ask({ kind: 'job', id }))).toEqual({
      status: 403,
      code: 'tier_limit_exceeded',
    });
  });

  it.each([
    [{ kind: 'job', id: 'x', from: 'soon' }, 'INVALID_FROM'],
    [{ kind: 'job', id: 'x', to: 'later' }, 'INVALID_TO'],
    [{ kind: 'job', id: 'x', from: '20', to: '10' }, 'INVALID_RANGE'],
    [{ kind: 'team', id: 'x' }, 'invalid_body'],
    [{ kind: 'job' }, 'invalid_body'],
    [{ kind: 'job', id: 'x'.repeat(513) }, 'invalid_body'],
  ])('400 for %j', async (body, code) => {
    expect(statusAndCode(await evidence.ask(body))).toEqual({ status: 400, code });
  });

  it('404 for an id without events, with any characters', async () => {
    await api.given.job();
    for (const id of ['nothing', '"', '\\', '../../x', 'ü\u0000\n', '*']) {
      expect(statusAndCode(await evidence.ask({ kind: 'job', id }))).toEqual({ status: 404, code: 'evidence_subject_not_found' });
    }
  }); // prettier-ignore

  it('503 while as many bundles as a process writes at once are under way; the others succeed', async () => {
    const id = await api.given.job();
    const answers = await Promise.all(Array.from({ length: 12 }, () => evidence.ask({ kind: 'job', id })));

    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.length).toBeLessThan(12);
    for (const answer of refused) expect(statusAndCode(answer)).toEqual({ status: 503, code: 'overloaded' });
    await evidence.get({ kind: 'job', id });
  });
});

describe('without a signing key', () => {
  const unsigned = useApi();

  it('503', async () => {
    unsigned.license('enterprise');
    const id = await unsigned.given.job();
    const answer = await unsigned.as('admin').post('/api/v1/audit/evidence', { kind: 'job', id });

    expect(statusAndCode(answer)).toEqual({ status: 503, code: 'audit_signing_unavailable' });
  });
});
