import { useApi } from '../api.testing';
import type { Who } from '../identities.testing';
import { getCode, openGrpc, type GrpcTestClient } from './grpc.testing';

const path = '/api/v1/agents';

describe('SubmitJob with a delegation token', () => {
  const api = useApi({ env: { SVC_DELEGATION_PRIVATE_KEY: '6'.repeat(64) } });
  let grpc: GrpcTestClient;
  beforeAll(async () => {
    grpc = await openGrpc(api);
  });
  afterAll(() => grpc.close());
  beforeEach(() => api.license('enterprise'));

  const agent = async () => {
    const scope = { allowed_topics: ['job.*'], allowed_pools: ['*'], allowed_tools: ['mail.*'] };
    const { body } = await api.as('admin').post(path, { name: 'a', owner: 'uma', risk_tier: 'low', ...scope });
    return String(body['id']);
  };
  const delegate = async (from: string, to: string, body: object = {}) =>
    (await api.as('admin').post(`${path}/${from}/delegate`, { target_agent_id: to, ...body })).body as {
      token: string;
      jti: string;
    };
  const submit = (fields: object, agentId = '', who: Who = 'user') =>
    grpc.ask('SubmitJob', { prompt: 'p', topic: 'job.demo.echo', ...fields }, who, agentId ? { 'x-agent-id': agentId } : {}); // prettier-ignore
  const outcome = async (answer: ReturnType<typeof submit>) => {
    const refused = await answer;
    return [refused.code, getCode(refused)];
  };

  it('OK: runs as the audience, and shows the delegation without the token', async () => {
    const [a, b] = [await agent(), await agent()];
    const { token, jti } = await delegate(a, b);

    const own = await submit({ delegation_token: token }, b);
    const named = await submit({ delegation_token: token, delegation_audience_agent_id: b }, '', 'admin');

    for (const { answer } of [own, named]) {
      const job = (await api.as('admin').get(`/api/v1/jobs/${String(answer?.['job_id'])}`)).body;
      expect(job).toMatchObject({ agent_id: b, delegation: { jti, audience: b, root_issuer: a, chain_depth: 1 } });
      expect(JSON.stringify(job)).not.toContain(token.split('.')[2]);
    }
  });

  it('refuses the tokens that REST refuses, with the same codes, and records them', async () => {
    const [a, b, c] = [await agent(), await agent(), await agent()];
    const { token, jti } = await delegate(a, b, { allowed_topics: ['job.demo.*'] });
    const named = { delegation_token: token, delegation_audience_agent_id: b };

    expect(await outcome(submit({ delegation_token: 'x.y.z' }, b))).toEqual(['UNAUTHENTICATED', 'malformed']);
    expect(await outcome(submit({ delegation_token: `${token}AAAA` }, b))).toEqual(['UNAUTHENTICATED', 'bad_signature']); // prettier-ignore
    expect(await outcome(submit({ delegation_token: token }, c))).toEqual(['PERMISSION_DENIED', 'audience_mismatch']);
    expect(await outcome(submit(named, c))).toEqual(['PERMISSION_DENIED', 'access_denied']);
    const outside = { delegation_token: token, topic: 'job.default' };
    expect(await outcome(submit(outside, b))).toEqual(['INVALID_ARGUMENT', 'scope_exceeded']);
    await api.as('admin').post(`${path}/revoke-delegation`, { jti });
    expect(await outcome(submit({ delegation_token: token }, b))).toEqual(['PERMISSION_DENIED', 'revoked']);

    const { body } = await api.as('admin').get('/api/v1/audit/events?event_type=delegation.rejected');
    const reasons = (body['items'] as { reason: string }[]).map(({ reason }) => reason);
    expect(reasons.sort()).toEqual(['audience_mismatch', 'bad_signature', 'malformed', 'revoked', 'scope_exceeded']);
  });
});
