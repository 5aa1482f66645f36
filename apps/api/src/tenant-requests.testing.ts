import type { Endpoint } from '@svc/contract';
import { scimEnv } from './routes/scim/scim.testing';
import { filledBody, type Words } from './filled-body.testing';

const unlimited = async () => ({ allowed: true, headers: {} });
/** A gateway whose default tenant is neither of the two, and whose limits reject no request. */
export const walked = {
  env: {
    ...{ TENANT_ID: 'house', SVC_AUDIT_SIGNING_KEY: '5'.repeat(64) },
    SVC_DELEGATION_PRIVATE_KEY: '6'.repeat(64),
    ...{
      SVC_USER_AUTH_ENABLED: 'true',
      SVC_ADMIN_PASSWORD: 'House-of-the-walk-1',
      SVC_USER_SECRET_KEYS: '7'.repeat(64),
    },
    ...scimEnv,
  },
  mount: { rateLimits: { api: unlimited, open: unlimited } },
};

/** Ids of the records of a tenant. */
export interface Belongings {
  held: string;
  done: string;
  failed: string;
  denied: string;
  quarantined: string;
  artifact: string;
  workflow: string;
  schedule: string;
  run: string;
  /** The rerun of `run`. */
  again: string;
  submitted: string;
  schema: string;
  topic: string;
  shadowed: string;
  snapshot: string;
  trace: string;
  team: string;
  worker: string;
  lock: string;
  /** Evaluation datasets, a run and a comparison. */
  datasets: readonly string[];
  evalRun: string;
  comparison: string;
  legalHold: string;
  agent: string;
  secondAgent: string;
  /** Id of a delegation token. */
  delegation: string;
  effect: string;
  apiKey: string;
  /** An event that the receiver of the audit exporter refused. */
  auditDeadLetter: string;
  user: string;
  /** Of that user. */
  session: string;
  /** Code of the second factor of that user. */
  code: string;
}

/** Passwords of the planted user, one after the other. */
export const walkPasswords = ['Keel-and-rudder-7', 'Mast-and-sail-8', 'Oar-and-anchor-9'] as const;
const [password, secondPassword, thirdPassword] = walkPasswords;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Values of fields that accept no free text, or that would keep other fields from being stored, by endpoint. `undefined`
 * omits a field. All other fields get generated texts.
 */
const formed: Readonly<Record<string, (words: Words, tenant: string, of: Belongings) => Fields>> = {
  'jobs.submit': (words, tenant) => ({
    ...{ tenant_id: tenant, org_id: tenant, topic: 'job.default', priority: 'batch', context_mode: 'chat' },
    requires: [],
    concurrency: { key: words('jobs.submit concurrency key'), limit: 5 },
    rate: { key: words('jobs.submit rate key'), limit: 5, per: '1h' },
    debounce: { key: words('jobs.submit debounce key'), period: '1h', max_wait: '2h' },
    singleton: { key: words('jobs.submit singleton key'), mode: 'return' },
    ...{ principal_id: undefined, delegation_token: undefined, delegation_audience_agent_id: undefined },
  }),
  'keys.create': () => ({ scopes: ['jobs:read'], expiresAt: '2100-01-01T00:00:00Z' }),
  'roles.put': () => ({ permissions: ['jobs.read'], inherits: ['viewer'] }),
  'audit.evidence': (_words, _tenant, { done }) => ({
    ...{ kind: 'job', id: done, include_content: true, tenant: undefined, from: undefined, to: undefined },
  }),
  'jobs.remediate': (_words, _tenant, of) => ({ remediation_id: `remedy-of-${of.team}` }),
  'workers.createCredential': (_words, _tenant, { worker }) => ({
    ...{ worker_id: worker, allowed_pools: ['demo'], allowed_topics: undefined, public_keys: [] },
  }),
  'auth.login': (words, tenant) => ({
    ...{ username: words('users.create username'), tenant, totp: undefined, recovery_code: undefined },
    // Other tenants do not know it.
    password: tenant === 'acme' ? password : 'x',
  }),
  'auth.password': () => ({ current_password: password, new_password: secondPassword }),
  'auth.beginTotp': () => ({ password }),
  'auth.confirmTotp': (_words, _tenant, { code }) => ({ code }),
  'auth.removeTotp': () => ({ password, code: undefined }),
  'users.create': (words, tenant) => ({
    ...{ password, tenant, role: 'user', email: `${words('users.create email')}@acme.test`, display_name: undefined },
  }),
  'users.update': () => ({ email: undefined, roles: ['user'] }),
  'users.setPassword': () => ({ password: thirdPassword }),
  'agents.create': () => ({ risk_tier: 'low', status: 'active' }),
  'agents.update': () => ({ risk_tier: 'high', status: 'active' }),
  'agents.delegate': (_words, _tenant, { secondAgent }) => ({
    ...{ target_agent_id: secondAgent, ttl_seconds: 0, parent_token: undefined },
    ...{ allowed_actions: undefined, allowed_topics: undefined },
  }),
  'agents.verifyDelegation': () => ({ token: 'x', expected_audience: undefined }),
  'agents.revokeDelegation': (_words, _tenant, { delegation }) => ({ jti: delegation, cascade: true }),
  'sso.putGroupMapping': () => ({ oidc_group_role_mapping: { platform: 'viewer' } }),
  'approvals.repair': () => ({ apply: true }),
  'holds.create': (_words, tenant) => ({ tenant_id: tenant }),
  'data.reportEffect': () => ({ op: 'begin', call: 'c'.repeat(32) }),
  'effects.settle': (words) => ({ outcome: 'happened', result: { answer: words('effects.settle result') } }),
  'locks.acquire': (_words, _tenant, { lock }) => ({ resource: lock, owner: lock, ttl_ms: 3_600_000 }),
  'locks.renew': (_words, _tenant, { lock }) => ({ resource: lock, owner: lock, ttl_ms: 3_600_000 }),
  'locks.release': (_words, _tenant, { lock }) => ({ resource: lock, owner: lock }),
  'artifacts.put': () => ({ content_base64: undefined, retention: 'short' }),
  'topics.register': (_, tenant) => ({
    ...{ pool: 'demo', tenant_id: tenant, requires: [] },
    ...{ input_schema_id: undefined, output_schema_id: undefined, risk_tag_deriver: undefined },
  }),
  'schemas.put': (words) => ({ schema: { title: words('schemas.put title'), $comment: words('schemas.put comment') } }),
  'config.put': (words, tenant) => config(words, 'config.put', { scope: 'org', scope_id: tenant }),
  'config.post': (words, _tenant, { team }) => config(words, 'config.post', { scope: 'team', scope_id: team }),
  'workflows.put': (words, tenant, { workflow }) => ({
    ...{ id: workflow, org_id: tenant, timeout_sec: 60, created_at: undefined, updated_at: undefined },
    ...{ revision: undefined, output: undefined, on_failure: undefined, config: {} },
    input_schema: { title: words('workflows.put input_schema') },
    parameters: [{ name: words('workflows.put parameters') }],
    policy_override: `tier: workflow\nselector: { workflow_id: ${workflow} }\nrules: [{ id: ${words('workflows.put rule')}, match: { topics: [job.${words('workflows.put rule topic')}] }, decision: deny }]`,
    steps: {
      [words('workflows.put step id')]: {
        ...{ topic: 'job.default', name: words('workflows.put step name') },
        input: { note: words('workflows.put step input') },
        meta: { labels: { note: words('workflows.put step label') } },
      },
    },
  }),
  'workflows.dryRun': () => ({}),
  'schedules.add': () => times,
  'schedules.put': () => times,
  'runs.rerun': () => ({ from_step: undefined }),
  'policy.evaluate': (_, tenant) => question(tenant),
  'policy.simulate': (_, tenant) => question(tenant),
  'policy.explain': (_, tenant) => question(tenant),
  'policy.simulateBundle': (words, tenant) => ({
    request: { topic: 'job.default', tenant, labels: { a: words('policy.simulateBundle label') } },
    content: undefined,
  }),
  'policy.replay': (words, tenant) => ({
    ...window,
    filters: { tenant, topic_pattern: 'job.*' },
    candidate_content: buildPolicy(words, 'policy.replay'),
  }),
  'policy.analytics': () => window,
  'policy.putShadow': (words) => ({ content: buildPolicy(words, 'policy.putShadow') }),
  'policy.putBundle': (words) => ({ content: buildPolicy(words, 'policy.putBundle'), expected_sha256: undefined }),
  'policy.publish': () => ({ bundle_ids: undefined }),
  'policy.rollback': (_words, _tenant, { snapshot }) => ({ snapshot_id: snapshot }),
  'policy.putGlobal': (words) => ({
    sections: { invariants: { content: buildPolicy(words, 'policy.putGlobal') } },
    snapshot_version: undefined,
  }),
  'evals.createDataset': (words) => ({
    name: 'walk-set',
    version: 0,
    entries: [evalEntry(words, 'evals.createDataset')],
  }),
  'evals.putDataset': (words) => ({ version: 0, entries: [evalEntry(words, 'evals.putDataset')] }),
  'evals.fromIncidents': () => ({
    ...{ name: 'walk-incidents', verdicts: undefined, since: undefined, until: undefined },
    ...{ topic: undefined, rule_id: undefined, agent_id: undefined },
  }),
  'evals.run': () => ({ candidate_bundle_id: undefined, candidate_content: undefined }),
  'evals.compare': () => ({ left: {}, right: { candidate_content: 'rules: []' } }),
  'tenants.create': () => ({ id: 'initech' }),
  'telemetry.consent': () => ({ mode: 'off' }),
  'policy.addVelocityRule': () => pace,
  'policy.putVelocityRule': () => pace,
};

const evalEntry = (words: Words, place: string) => ({
  id: words(`${place} entry`),
  input: {
    ...{ topic: `job.${words(`${place} topic`)}`, agent_id: words(`${place} agent`), pack_id: words(`${place} pack`) },
    ...{ principal_id: words(`${place} principal`), capability: words(`${place} capability`) },
    ...{ risk_tags: [words(`${place} tag`)], requires: [words(`${place} requirement`)] },
    labels: { [words(`${place} label key`)]: words(`${place} label`) },
    metadata: { [words(`${place} metadata key`)]: words(`${place} metadata`) },
  },
  expected_decision: 'DENY',
  ...{ rule_id: words(`${place} rule`), source_ref: words(`${place} source`), notes: words(`${place} notes`) },
});
const window = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' };
const times = {
  ...{ cron: '0 * * * *', time_zone: 'UTC', interval_sec: undefined },
  ...{ start_at: undefined, end_at: undefined },
};
const pace = { window: '5m', key: 'tenant', threshold: 3, throttle_duration: undefined, id: undefined };
const buildPolicy = (words: Words, place: string) =>
  `rules: [{ id: ${words(`${place} rule`)}, reason: ${words(`${place} reason`)}, match: { topics: [job.${words(`${place} topic`)}] }, decision: deny }]`;
const question = (tenant: string) => ({
  ...{ topic: 'job.default', tenant, org_id: tenant, priority: undefined, budget: undefined, action: undefined },
  ...{ meta: undefined, effective_config: undefined, principal_id: undefined },
});
const config = (words: Words, place: string, scope: object): Fields => ({
  ...scope,
  data: {
    [words(`${place} data key`)]: words(`${place} data`),
    budget: { daily_limit_usd: 10, cost_centers: [words(`${place} centre`)] },
  },
  meta: { [words(`${place} meta key`)]: words(`${place} meta`) },
  revision: undefined,
});

/** Fields that `formed` sets for an endpoint. */
export const formedFields = ({ id }: Endpoint, of: Belongings): string[] =>
  Object.keys(formed[id]?.(() => 'x', 'acme', of) ?? {});

/** A valid body with texts of one tenant; undefined for endpoints without a body. */
export function bodyFor(endpoint: Endpoint, words: Words, tenant: string, of: Belongings): string | undefined {
  if (!endpoint.body) return undefined;
  // The body of a run is its input; the declared field is one of many.
  const input = endpoint.id === 'runs.start' ? { [words('runs.start input key')]: words('runs.start input') } : {};
  const body = { ...filledBody(endpoint.body, words, endpoint.id), ...input, ...formed[endpoint.id]?.(words, tenant, of) };
  return JSON.stringify(body);
} // prettier-ignore

const began = Date.now();

const families: readonly [path: RegExp, ids: (of: Belongings) => readonly string[]][] = [
  [/evals\/datasets\/by-name\//, () => ['walk-set']],
  [/evals\/datasets\//, ({ datasets }) => datasets],
  [/evals\/runs\//, ({ evalRun }) => [evalRun]],
  [/evals\/comparisons\//, ({ comparison }) => [comparison]],
  [/\/auth\/keys\//, ({ apiKey }) => [apiKey]],
  [/\/auth\/roles\//, () => ['operator']],
  [/\/auth\/sessions\//, ({ session }) => [session]],
  [/\/users\//, ({ user }) => [user]],
  [/\/agents\//, ({ agent }) => [agent]],
  // Credentials of this API are refused before the id is read.
  [/\/scim\//, () => ['x']],
  [/\/effects\//, ({ effect }) => [effect]],
  [/\/tenants\//, () => ['acme']],
  [/\/legal-hold\//, ({ legalHold }) => [legalHold]],
  [/:snapshot_id/, ({ snapshot }) => [snapshot]],
  [/shadows\/:bundle_id/, ({ shadowed }) => [shadowed]],
  [/:bundle_id/, ({ workflow }) => [`workflow~${workflow}~policy`]],
  [/:rule_id/, () => ['x']],
  [/\/approvals\//, ({ held }) => [held]],
  [/\/audit\/events\//, () => ['1']],
  [/\/audit\/export\/dead-letters\//, ({ auditDeadLetter }) => [auditDeadLetter]],
  [/\/artifacts\//, ({ artifact }) => [artifact]],
  [/\/traces\//, ({ trace }) => [trace]],
  [/\/workflows\//, ({ workflow }) => [workflow]],
  [/\/workflow-runs\//, ({ run, again }) => [run, again]],
  [/\/workers\//, ({ worker }) => [worker]],
  [/\/pools\//, () => ['demo']],
  [/\/topics\//, ({ topic }) => [topic]],
  [/\/schemas\//, ({ schema }) => [schema]],
  [/\/dlq\//, ({ failed, denied, quarantined }) => [failed, denied, quarantined]],
  [
    /\/(jobs|data)\//,
    ({ held, done, failed, denied, quarantined, submitted }) => [held, done, failed, denied, quarantined, submitted],
  ],
];

/** Paths and queries of an endpoint that name records of the tenant. */
export function buildTargets(endpoint: Endpoint, of: Belongings): string[] {
  const { path } = endpoint;
  if (!path.includes(':')) return buildQueries(endpoint, of).map((query) => path + query);
  const [, ids] = families.find(([pattern]) => pattern.test(path)) ?? [];
  if (!ids) throw new Error(`no record is known for ${path}`);
  const below = (first: string) =>
    path
      .replace(/:\w+/, encodeURIComponent(first))
      .replace(':schedule_id', of.schedule)
      .replace(':run_id', of.run)
      .replace(/:\w+/, '1');
  // Results are queried by time.
  const isTimed = 'from' in ((endpoint.query?.describe().keys ?? {}) as object);
  const query = isTimed
    ? `?from=${began - 3_600_000}&to=${began + 3_600_000}${path.endsWith('timeseries') ? '&bucket=1h' : ''}`
    : endpoint.answer.events
      ? '?follow=false'
      : '';
  return ids(of)
    .filter((id) => id !== '')
    .map((id) => below(id) + query);
}

function buildQueries({ id, query }: Endpoint, of: Belongings): string[] {
  const { done, submitted, team, workflow, trace } = of;
  if (id === 'memory.read') return [`?ptr=redis://ctx:${done}`, `?key=res:${done}`, `?key=mem:${done}`, `?ptr=redis://ctx:${submitted}`, '?key=res:released', '?key=res:withheld'];
  if (id === 'config.get') return ['', '?scope=org&scope_id=acme&envelope=true', `?scope=team&scope_id=${team}&envelope=true`];
  const values: Readonly<Record<string, string>> = {
    ...{ team, team_id: team, workflow_id: workflow, trace_id: trace, state: 'SUCCEEDED', status: 'pending' },
    ...{ org_id: 'acme', tenant: 'acme', type: 'output', search: 'canary', include_resolved: 'true' },
    ...{ include_disabled: 'true', resource: of.lock },
  };
  const names = Object.keys((query?.describe().keys ?? {}) as object);
  return ['', ...names.filter((name) => values[name]).map((name) => `?${name}=${encodeURIComponent(values[name] ?? '')}`)];
} // prettier-ignore
