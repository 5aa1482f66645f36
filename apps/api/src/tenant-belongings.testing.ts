import { endpoints, type Endpoint } from '@svc/contract';
import { TOTP } from 'otpauth';
import type { Api } from './api.testing';
import type { GivenJob } from './given-jobs.testing';
import { keys, type ApprovalRecord, type OutputSafetyRecord, type ShadowResult, type WorkerRecord } from '@svc/store';
import type { Words } from './filled-body.testing';
import type { Canary } from './fuzz/canaries.testing';
import { canaries } from './fuzz/canaries.testing';
import { bodyFor, buildTargets, walkPasswords, type Belongings } from './tenant-requests.testing';

export interface Planted extends Belongings {
  /** Stored texts by place. */
  canaries: readonly Canary[];
  /** Ids of the endpoints whose bodies were stored. */
  through: ReadonlySet<string>;
}

/** Creates every kind of tenant record, with a unique text in every free-text field. */
export async function plantBelongings(api: Api): Promise<Planted> {
  const secret = canaries();
  const words: Words = (place) => secret.of(place);
  const through = new Set<string>();
  const sent: string[] = [];
  const of = {
    ...{ legalHold: '', schedule: '', run: '', again: '', artifact: '', snapshot: '', submitted: '', evalRun: '' },
    ...{ comparison: '', agent: '', secondAgent: '', delegation: '', effect: '', apiKey: '', auditDeadLetter: '' },
    ...{ user: '', session: '', code: '' },
    datasets: [],
    ...{ workflow: words('workflow id'), team: words('team id'), trace: words('trace id'), worker: 'worker-acme', lock: words('lock') },
    ...{ schema: words('schemas.put id'), topic: `job.${words('topics.register name')}`, shadowed: 'secops~shadowed' },
  };
  const jobs = await plantJobs(api, words, of);
  const planted: Belongings = { ...of, ...jobs };

  const send = async (id: Endpoint['id'], name = '', headers = {}): Promise<Record<string, unknown>> => {
    const endpoint: Endpoint | undefined = endpoints.find((one) => one.id === id);
    if (!endpoint) throw new Error(`no endpoint ${id}`);
    const first = buildTargets(endpoint, planted)[0] ?? '';
    const target = name ? endpoint.path.replace(/:\w+/, name) : first;
    const body = bodyFor(endpoint, words, 'acme', planted);
    sent.push(body ?? '', ...Object.values<string>(headers));
    const answer = await api.as('admin').send(endpoint.method, target, body, headers);
    if (answer.status >= 300) throw new Error(`${id}: ${answer.status} ${JSON.stringify(answer.body)}`);
    through.add(id);
    return answer.body;
  }; // prettier-ignore

  await api.store.workers.writeSnapshot({
    ...{ captured_at: new Date().toISOString(), writer_id: 'scheduler-1', pools: {} },
    workers: [liveWorker(of.worker)],
  });
  api.license('enterprise');
  planted.legalHold = ((await send('holds.create'))['hold'] as { id: string }).id;
  planted.apiKey = ((await send('keys.create'))['key'] as { id: string }).id;
  await plantUser(api, planted, send);
  planted.agent = String((await send('agents.create'))['id']);
  planted.secondAgent = String((await send('agents.create'))['id']);
  await send('agents.update');
  planted.delegation = String((await send('agents.delegate'))['jti']);
  await send('agents.verifyDelegation');
  await send('agents.revokeDelegation');
  planted.effect = await plantEffect(api, words, of.worker);
  await send('effects.settle');
  await send('schemas.put');
  await send('workers.createCredential');
  await send('topics.register');
  for (const id of ['acquire', 'acquire', 'release', 'renew'] as const) await send(`locks.${id}`);
  await send('config.put');
  await send('config.post');
  await send('workflows.put');
  planted.schedule = String((await send('schedules.add'))['id']);
  await send('schedules.put');
  await send('workflows.dryRun');
  planted.run = String((await send('runs.start', '', { 'Idempotency-Key': words('runs.start key') }))['run_id']);
  planted.again = String((await send('runs.rerun'))['run_id']);
  await send('runs.say');
  await send('runs.signal');
  planted.submitted = String((await send('jobs.submit'))['job_id']);
  for (const id of ['approvals.approve', 'approvals.reject', 'approvals.repair'] as const) {
    const fields = id === 'approvals.repair' ? { approval: rejected } : {};
    await send(id, await api.given.job({ state: 'APPROVAL_REQUIRED', ...fields }));
  }
  await send('jobs.remediate', jobs.denied);
  await send('dlq.release', await api.given.job(withheld('released', words)));
  planted.artifact = String((await send('artifacts.put'))['artifact_ptr']);
  const shadowed = await api.as('everywhere').put('/api/v1/policy/bundles/secops~shadowed', { content: 'rules: []' });
  if (shadowed.status !== 200) throw new Error(`no bundle to try a shadow of: ${shadowed.status}`);
  const shadow = await send('policy.putShadow');
  await api.store.shadowResults.add('acme', [buildResult(String(shadow['shadow_bundle_id']), words)]);
  for (const id of ['evaluate', 'simulate', 'explain', 'simulateBundle', 'replay', 'analytics']) await send(`policy.${id}`);
  const datasets = [await send('evals.createDataset')];
  planted.datasets = [String(datasets[0]?.['id'])];
  datasets.push(await send('evals.putDataset'));
  await plantDecisions(api, words, jobs.denied);
  datasets.push(await send('evals.fromIncidents'));
  planted.evalRun = String((await send('evals.run'))['run_id']);
  planted.comparison = String((await send('evals.compare'))['comparison_id']);
  planted.datasets = datasets.map(({ id, dataset_id }) => String(id ?? dataset_id));
  planted.auditDeadLetter = await plantAuditDeadLetter(api, words);
  await api.store.redis.set(`mem:${jobs.done}`, words('memory'));
  const today = new Date().toISOString().slice(0, 10);
  await api.store.redis.hset(`{s0}:spend:tenant:acme:${today}`, { spent: 1, [`center:${words('cost centre')}`]: 1 });
  await api.as('everywhere').post('/api/v1/policy/bundles/snapshots', { note: 'all' });
  const snapshots = await api.as('everywhere').get('/api/v1/policy/bundles/snapshots');
  planted.snapshot = (snapshots.body['items'] as { id: string }[])[0]?.id ?? '';
  // Also takes a checkpoint, so that no later read has to.
  await send('audit.evidence');
  const places = endpoints.map(({ id }) => `${id} `);
  const isSent = ({ place, text }: Canary) =>
    !places.some((start) => place.startsWith(start)) || sent.some((body) => body.includes(text));
  return { ...planted, canaries: secret.made.filter(isSent), through };
} // prettier-ignore

/** An event that the receiver of the exporter refused. */
async function plantAuditDeadLetter(api: Api, words: Words): Promise<string> {
  const facts = { ...{ seq: 1, tenant_id: 'acme', timestamp: new Date().toISOString(), event_type: 'system.test', action: 'test' }, severity: 'INFO', reason: words('dead letter event') }; // prettier-ignore
  const fields = {
    tenant: 'acme',
    id: '1-1',
    reason: words('dead letter reason'),
    e: JSON.stringify(facts),
    h: 'a'.repeat(64),
    m: '',
  };
  return (await api.store.redis.xadd(keys.auditExportDead('none'), '*', ...Object.entries(fields).flat())) ?? '';
}

type Send = (id: Endpoint['id'], name?: string, headers?: object) => Promise<Record<string, unknown>>;

/** A user with a session. */
async function plantUser(api: Api, planted: Belongings, send: Send): Promise<void> {
  const { id, username } = await send('users.create');
  planted.user = String(id);
  const own = { Authorization: `Bearer ${String((await send('auth.login'))['token'])}` };
  const { secret } = await send('auth.beginTotp', '', own);
  planted.code = new TOTP({ secret: String(secret) }).generate();
  await send('auth.confirmTotp', '', own);
  await send('auth.removeTotp', '', own);
  await send('auth.password', '', own);
  await send('users.update');
  await send('users.setPassword');
  const [, , password] = walkPasswords;
  const { body } = await api.anonymous.post('/api/v1/auth/login', { username, password, tenant: 'acme' });
  const sessions = await api.anonymous.get('/api/v1/auth/sessions', {
    Authorization: `Bearer ${String(body['token'])}`,
  });
  planted.session = (sessions.body['items'] as { id: string }[])[0]?.id ?? '';
}

/** A decision, and a resolved approval. */
async function plantDecisions(api: Api, words: Words, jobId: string): Promise<void> {
  const { decisionLog } = api.ctx.governance;
  const common = { atMs: Date.now(), jobId, topic: `job.${words('decision topic')}`, ruleId: words('decision rule') };
  const place = { position: 1, agentId: words('decision agent'), reason: words('decision reason') };
  await decisionLog.appendDecisions('acme', [
    {
      ...{ ...common, ...place, verdict: 'deny', constraints: '', policyVersion: words('decision policy') },
      ...{ principalId: words('decision principal'), capability: '', riskTags: [], packId: words('decision pack') },
    },
  ]);
  const by = { by: words('approver'), role: 'operator', reason: words('approval reason') };
  await decisionLog.appendResolutions('acme', [{ ...common, ...place, ...by, heldAtMs: 1, outcome: 'approved' }]);
}

/** A job with a withheld output. */
function withheld(id: string, words: Words) {
  const output_safety: OutputSafetyRecord = {
    ...{ decision: 'QUARANTINE', rule_id: words(`${id} rule`), reason: words(`${id} reason`), findings: [] },
    ...{ policy_snapshot: 's', phase: 'async', checked_at: 1, check_duration_ms: 1, original_ptr: `redis://res:${id}` },
  };
  const result = { reply: words(id) };
  return { id, state: 'OUTPUT_QUARANTINED', result, fields: { output_safety } } satisfies GivenJob;
}

/** An effect whose outcome is unknown, because its job was cancelled. */
async function plantEffect(api: Api, words: Words, workerId: string): Promise<string> {
  const id = await api.given.job({ state: 'RUNNING', workerId });
  const job = await api.store.jobs.load(id);
  const claim = { tenant: 'acme', jobId: id, workerId, dispatchId: job?.dispatch_id ?? '', call: 'c'.repeat(32) };
  await api.store.effects.begin(job ?? { id }, { ...claim, key: words('effect key') });
  await api.store.jobs.move('acme', id, 'cancel');
  const { items } = await api.store.effects.page('acme', 'unknown', 1);
  return items[0]?.id ?? '';
}

/** Workers belong to the installation; the jobs dispatched to them do not. */
const liveWorker = (worker_id: string): WorkerRecord => ({
  ...{ worker_id, pool: 'demo', region: 'eu', type: 'cpu', agent_name: '', draining: false },
  ...{ active_jobs: 1, max_parallel_jobs: 4, cpu_load: 0, gpu_utilization: 0, memory_load: 0 },
  ...{ capabilities: [], labels: {}, ready_topics: [], last_heartbeat_ms: Date.now() },
});

/** An approval that was decided while the job was not moved. */
const rejected: Partial<ApprovalRecord> = {
  ...{ status: 'rejected', revision: 2, decision: 'reject', resolved_by: 'ola', resolved_role: 'operator' },
  ...{ resolved_at: 1_000_000, reason: 'because' },
};

/** A shadow decision about a job. */
const buildResult = (shadow: string, words: Words): ShadowResult => ({
  ...{ bundle_id: 'secops/shadowed', shadow_bundle_id: shadow, latency_ms: '0.2', severity: 'LOW' },
  ...{ job_id: words('shadow job'), agent_id: words('shadow agent') },
  ...{ active_verdict: 'ALLOW', shadow_verdict: 'DENY', diff: 'escalated' },
  ...{ active_rule_id: words('shadow live rule'), shadow_rule_id: words('shadow rule') },
});

/** Jobs in states that no request body can produce directly. */
async function plantJobs(api: Api, words: Words, { team, trace, worker }: Pick<Belongings, 'team' | 'trace' | 'worker'>) {
  const secret = {
    prompt: words('job prompt'),
    labels: { [words('job label key')]: words('job label') },
    context: { [words('job context key')]: words('job context') },
    traceId: trace,
    workerId: worker,
    request: { team_id: team, principal_id: words('job principal'), actor_id: words('job actor') },
  };
  const remedy = { id: `remedy-of-${team}`, title: words('remedy title'), summary: words('remedy summary') };
  return {
    held: await api.given.job({ ...secret, state: 'APPROVAL_REQUIRED', safety: { reason: words('hold reason') } }),
    done: await api.given.job({ ...secret, state: 'SUCCEEDED', result: { reply: words('job result') } }),
    failed: await api.given.job({ ...secret, state: 'FAILED', error: words('job error') }),
    denied: await api.given.job({ ...secret, state: 'DENIED', safety: { remediations: [remedy] } }),
    quarantined: await api.given.job({ ...secret, ...withheld('withheld', words) }),
  };
} // prettier-ignore
