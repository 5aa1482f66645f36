import { eventually } from '@svc/testing';
import { type DelegationClaims, readToken, signToken } from '@svc/delegation';
import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';
import type { Who } from '../../identities.testing';

const path = '/api/v1/agents';
const seed = '6'.repeat(64);
const scope = { allowed_topics: ['job.*'], allowed_pools: ['*'], allowed_tools: ['mail.*'] };

describe('delegations', () => {
  const api = useApi({ env: { SVC_DELEGATION_PRIVATE_KEY: seed, SVC_DELEGATION_KEY_ID: 'dlg-2' } });
  beforeEach(() => api.license('enterprise'));
  const agent = async (body: object = {}, who: Who = 'admin') =>
    String((await api.as(who).post(path, { name: 'a', owner: 'uma', risk_tier: 'low', ...scope, ...body })).body['id']);
  const delegate = (from: string, to: string, body: object = {}, who: Who = 'admin') =>
    api.as(who).post(`${path}/${from}/delegate`, { target_agent_id: to, ...body });
  const issued = async (from: string, to: string, body: object = {}) => {
    const answer = await delegate(from, to, body);
    expect(answer.status).toBe(201);
    return answer.body as { token: string; jti: string; chain_depth: number; expires_at: string; kid: string };
  };
  const verify = async (token: string, body: object = {}, who: Who = 'viewer') =>
    (await api.as(who).post(`${path}/verify-delegation`, { token, ...body })).body;
  const revoke = (jti: string, body: object = {}, who: Who = 'admin') =>
    api.as(who).post(`${path}/revoke-delegation`, { jti, ...body });
  const listed = async (query = '', who: Who = 'admin') =>
    (await api.as(who).get(`/api/v1/delegations${query}`)).body['items'] as Record<string, unknown>[];
  const submit = (body: object, agentId: string, who: Who = 'user') =>
    api.as(who).post('/api/v1/jobs', { prompt: 'x', ...body }, agentId ? { 'X-Agent-Id': agentId } : {});
  const actions = async () =>
    ((await api.as('admin').get('/api/v1/audit/events?event_type=delegation.lineage')).body['items'] as Record<string, unknown>[]).map(({ action }) => action); // prettier-ignore

  it('201, 200: a token is issued, verified, listed and revoked, and that is recorded without the token', async () => {
    const [a, b] = [await agent(), await agent()];

    const { token, jti, kid, chain_depth } = await issued(a, b, { allowed_actions: ['mail.read'], ttl_seconds: 60 });

    expect({ kid, chain_depth, jti: /^[0-9a-f]{32}$/.test(jti) }).toEqual({ kid: 'dlg-2', chain_depth: 1, jti: true });
    expect(await verify(token, { expected_audience: b })).toEqual({
      ...{ valid: true, sub: a, aud: [b], allowed_actions: ['mail.read'], allowed_topics: ['job.*'], chain_depth: 1 },
      delegation_chain: [expect.objectContaining({ agent_id: a, jti, parent_jti: '', issued_by: 'svc' })],
    });
    expect(await verify(token, { expected_audience: a })).toEqual({ valid: false, error_code: 'audience_mismatch' });
    expect(await listed('?status=active&scope=MAIL')).toMatchObject([{ jti, issuer: a, subject: a, audience: b, revoked: false }]);
    expect(await revoke(jti, { reason: 'leaked' })).toMatchObject({ status: 200, body: { jti, cascaded_count: 0 } });
    expect(await verify(token)).toEqual({ valid: false, error_code: 'revoked' });
    expect(await listed('?status=revoked')).toMatchObject([{ jti, revoked: true, revoked_reason: 'leaked' }]);
    expect(await listed('?status=active')).toEqual([]);
    expect(await actions()).toEqual(['delegation.revoked', 'delegation.issue']);
    expect(JSON.stringify((await api.as('admin').get('/api/v1/audit/events')).body)).not.toContain(token.split('.')[2]);
  }); // prettier-ignore

  it('a chain shrinks, its parent ends it, and a cascade revokes what is below', async () => {
    const [a, b, c, d] = [await agent(), await agent({ allowed_tools: ['*'] }), await agent(), await agent()];
    const root = await issued(a, b, { allowed_actions: ['mail.read', 'mail.send'], ttl_seconds: 100 });
    const child = await issued(b, c, { parent_token: root.token, ttl_seconds: 86_400 });
    const grandchild = await issued(c, d, { parent_token: child.token, allowed_actions: ['mail.read'] });

    expect(child).toMatchObject({ chain_depth: 2, expires_at: root.expires_at });
    expect(statusAndCode(await delegate(b, c, { parent_token: root.token, allowed_actions: ['mail.drop'] }))).toEqual({ status: 400, code: 'DELEGATION_SCOPE_EXCEEDED' });
    expect(statusAndCode(await delegate(c, d, { parent_token: root.token }))).toEqual({ status: 400, code: 'DELEGATION_REQUEST_INVALID' });
    expect(statusAndCode(await delegate(d, a, { parent_token: grandchild.token }))).toEqual({ status: 400, code: 'DELEGATION_CHAIN_TOO_DEEP' });

    expect((await revoke(root.jti, { cascade: false })).body).toEqual({ jti: root.jti, cascaded_count: 0 });
    for (const { token } of [root, child, grandchild]) expect(await verify(token)).toMatchObject({ error_code: 'revoked' });
    expect((await revoke(root.jti)).body).toEqual({ jti: root.jti, cascaded_count: 2 });
    expect(await actions()).toEqual(['delegation.revoked_cascade', 'delegation.revoked_cascade', 'delegation.revoked', 'delegation.issue', 'delegation.issue', 'delegation.issue']);
    expect(statusAndCode(await delegate(b, c, { parent_token: root.token }))).toEqual({ status: 400, code: 'DELEGATION_REQUEST_INVALID' });
  }); // prettier-ignore

  it('a token loses its power with the status and the scope of each agent of its chain', async () => {
    const [a, b, c] = [await agent(), await agent(), await agent()];
    const root = await issued(a, b);
    const child = await issued(b, c, { parent_token: root.token });
    const set = (body: object) => api.as('admin').put(`${path}/${a}`, body);

    await set({ status: 'suspended' });
    expect(await verify(child.token)).toMatchObject({ valid: false, error_code: 'revoked' });
    await set({ status: 'active', allowed_tools: ['mail.read'] });
    expect(await verify(child.token)).toMatchObject({ valid: false, error_code: 'scope_exceeded' });
    await set({ allowed_tools: ['*'] });
    expect(await verify(child.token)).toMatchObject({ valid: true });
  });

  it('404, 400, 403: other tenants, unknown and inactive agents, and callers who are not the worker of the agent', async () => {
    const [a, b] = [await agent(), await agent()];
    const theirs = await agent({}, 'other');
    const { token, jti } = await issued(a, b);
    const missing = { status: 404, code: 'DELEGATION_AGENT_NOT_FOUND' };

    expect(statusAndCode(await delegate(a, theirs))).toEqual(missing);
    expect(statusAndCode(await delegate(a, 'none'))).toEqual(missing);
    expect(statusAndCode(await delegate(a, b, {}, 'other'))).toEqual(missing);
    expect(statusAndCode(await delegate(a, a))).toEqual({ status: 400, code: 'DELEGATION_REQUEST_INVALID' });
    expect(statusAndCode(await delegate(a, b, { ttl_seconds: 86_401 }))).toEqual({ status: 400, code: 'DELEGATION_REQUEST_INVALID' });
    expect((await delegate(a, b, {}, 'user')).status).toBe(403);
    expect(await verify(token, {}, 'other')).toEqual({ valid: false, error_code: 'malformed' });
    expect(statusAndCode(await revoke(jti, {}, 'other'))).toEqual({ status: 404, code: 'DELEGATION_TOKEN_NOT_FOUND' });
    expect(await listed('', 'other')).toEqual([]);
    await api.as('admin').put(`${path}/${b}`, { status: 'suspended' });
    expect(statusAndCode(await delegate(a, b))).toEqual(missing);
  }); // prettier-ignore

  it('429: an agent delegates at most 60 times a minute', async () => {
    const [a, b] = [await agent(), await agent()];

    const answers = await Promise.all(Array.from({ length: 70 }, () => delegate(a, b)));

    const refused = answers.filter(({ status }) => status === 429);
    // Two minutes when the test runs over the end of one.
    expect(refused.length === 10 || refused.length === 0).toBe(true);
    if (refused[0]) expect(statusAndCode(refused[0])).toEqual({ status: 429, code: 'DELEGATION_RATE_LIMITED' });
  });

  it('a token that was never issued is refused, although its signature is valid', async () => {
    const [a, b] = [await agent(), await agent()];
    const { token } = await issued(a, b);
    const { keys } = api.ctx.submit.agents.delegation;
    if (!keys) throw new Error('no keys');
    const read = readToken(token, keys);
    if ('fault' in read) throw new Error(read.fault);
    const jti = 'f'.repeat(32);
    const chain = read.claims.delegation_chain.map((link) => ({ ...link, jti }));
    const forged: DelegationClaims = { ...read.claims, jti, delegation_chain: chain };

    expect(await verify(signToken(forged, keys))).toEqual({ valid: false, error_code: 'revoked' });
  });

  describe('a job with a token', () => {
    it('200: runs as the audience within the delegated scope, and shows the delegation without the token', async () => {
      const [a, b] = [await agent(), await agent({ allowed_topics: [], allowed_tools: [] })];
      const { token, jti } = await issued(a, b, { allowed_topics: ['job.demo.*'] });

      const answer = await submit({ topic: 'job.demo.echo', delegation_token: token }, b);

      expect(answer.status).toBe(200);
      const job = (await api.as('admin').get(`/api/v1/jobs/${String(answer.body['job_id'])}`)).body;
      expect(job).toMatchObject({
        agent_id: b,
        delegation: { jti, audience: b, root_issuer: a, parent_issuer: a, chain_depth: 1, verified_at: expect.any(Number) },
      });
      expect(JSON.stringify(job)).not.toContain(token.split('.')[2]);
      expect(statusAndCode(await submit({ topic: 'job.default', delegation_token: token }, b))).toEqual({ status: 422, code: 'scope_exceeded' });
      expect(statusAndCode(await submit({ topic: 'job.demo.echo', capability: 'shell', delegation_token: token }, b))).toEqual({ status: 422, code: 'scope_exceeded' });
    }); // prettier-ignore

    it('401, 403: wrong tokens, other audiences and revoked tokens, which are recorded', async () => {
      const [a, b, c] = [await agent(), await agent(), await agent()];
      const { token, jti } = await issued(a, b);

      expect(statusAndCode(await submit({ delegation_token: 'x.y.z' }, b))).toEqual({ status: 401, code: 'malformed' });
      expect(statusAndCode(await submit({ delegation_token: `${token}AAAA` }, b))).toEqual({ status: 401, code: 'bad_signature' });
      expect(statusAndCode(await submit({ delegation_token: token }, c))).toEqual({ status: 403, code: 'audience_mismatch' });
      expect(statusAndCode(await submit({ delegation_token: token }, ''))).toEqual({ status: 403, code: 'audience_mismatch' });
      const impersonated = { delegation_token: token, delegation_audience_agent_id: b };
      expect(statusAndCode(await submit(impersonated, c))).toEqual({ status: 403, code: 'access_denied' });
      expect((await submit(impersonated, '', 'admin')).status).toBe(200);
      await revoke(jti);
      expect(statusAndCode(await submit({ delegation_token: token }, b))).toEqual({ status: 403, code: 'revoked' });
      const { body } = await api.as('admin').get('/api/v1/audit/events?event_type=delegation.rejected');
      expect((body['items'] as { reason: string }[]).map(({ reason }) => reason)).toEqual(['revoked', 'audience_mismatch', 'bad_signature', 'malformed']);
    }); // prettier-ignore

    it('is cancelled when an agent of its chain is stopped', async () => {
      const [a, b] = [await agent(), await agent()];
      const { token } = await issued(a, b);
      const { body } = await submit({ delegation_token: token }, b);
      const own = await submit({}, b);

      await api.as('admin').put(`${path}/${a}`, { status: 'suspended' });

      const readState = async (id: unknown) => (await api.store.jobs.load(String(id)))?.state;
      await eventually(async () => expect(await readState(body['job_id'])).toBe('CANCELLED'));
      expect(await readState(own.body['job_id'])).toBe('PENDING');
    });

    it('policy decides by its depth, its issuer and its scope', async () => {
      const [a, b] = [await agent(), await agent()];
      await api.policy(`version: '1'
default_decision: allow
rules: [{ id: no-delegated, match: { predicate: 'delegation.issuer == "${a}"' }, decision: deny }]`);
      const { token } = await issued(a, b);

      const delegated = await submit({ delegation_token: token }, b);
      const own = await submit({}, b);

      await api.policy();
      expect([delegated.status, own.status]).toEqual([403, 200]);
    });
  });
});

describe('without keys', () => {
  const api = useApi();
  beforeEach(() => api.license('enterprise'));

  it('503: tokens are neither issued, verified nor accepted', async () => {
    const as = api.as('admin');
    const body = { name: 'a', owner: 'ann', risk_tier: 'low', ...scope };
    const [a, b] = await Promise.all([as.post(path, body), as.post(path, body)]);
    const id = String(a.body['id']);

    const answers = [
      await as.post(`${path}/${id}/delegate`, { target_agent_id: b.body['id'] }),
      await as.post(`${path}/verify-delegation`, { token: 'x' }),
      await as.post('/api/v1/jobs', { prompt: 'x', delegation_token: 'x' }, { 'X-Agent-Id': id }),
    ];

    for (const answer of answers)
      expect(statusAndCode(answer)).toEqual({ status: 503, code: 'delegation_unavailable' });
  });
});
