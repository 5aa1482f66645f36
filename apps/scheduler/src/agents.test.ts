import { delegate, signToken } from '@svc/delegation';
import { keys } from '@svc/store';
import { eventually } from '@svc/testing';
import { randomUUID } from 'node:crypto';
import { allowAll, delegationKeys, ruled, useScheduler } from './use-scheduler.testing';
import { type GivenAgent, giveAgent } from '@svc/fixtures/store';
import { giveCredential } from './worker-credentials.testing';

const use = useScheduler();
const submitted = async ({ id }: GivenAgent, body: Parameters<typeof use.submitted>[0] = {}) =>
  (await use.submitted(body, 'acme', undefined, undefined, id)).jobId;
const openJobs = ({ id }: GivenAgent) => use.redis.smembers(keys.agentJobs(id));
const stopping = () => use.redis.zcard(keys.agentsChanged());

describe('an agent whose status was written by a process that then died', () => {
  it('is stopped: its running, waiting, undecided and held jobs are cancelled, and those of others are not', async () => {
    await use.start({ policy: ruled('allow') });
    const worker = await use.rawWorker({ id: 'w1', max: 1 });
    const agent = await giveAgent(use.store);
    const running = await submitted(agent);
    await worker.dispatched(running);
    await use.until(running, 'RUNNING');
    const waiting = await submitted(agent);
    const other = await use.submit();
    await use.until(waiting, 'PENDING', { waiting_reason: 'pool_overloaded' });
    await use.until(other, 'PENDING', { waiting_reason: 'pool_overloaded' });
    await use.policy(ruled('require_approval'));
    const held = await submitted(agent);
    await use.until(held, 'APPROVAL_REQUIRED');
    expect((await openJobs(agent)).sort()).toEqual([running, waiting, held].sort());

    await agent.change({ status: 'suspended' });

    for (const id of [running, waiting, held]) await use.until(id, 'CANCELLED');
    const [cancel] = await use.published('job_cancel', 'sys.job.cancel', running);
    expect(cancel).toMatchObject({ job_id: running, reason: 'the agent was stopped' });
    await eventually(async () => expect(await stopping()).toBe(0));
    expect(await openJobs(agent)).toEqual([]);
    expect(['PENDING', 'DISPATCHED', 'RUNNING', 'APPROVAL_REQUIRED']).toContain((await use.job(other)).state);
  });

  it('stops no job that was accepted after it was activated again', async () => {
    await use.start();
    const agent = await giveAgent(use.store);
    await agent.change({ status: 'suspended' });
    await agent.change({ status: 'active' });

    const id = await submitted(agent);

    await use.until(id, 'PENDING', { waiting_reason: 'no_workers' });
    await eventually(async () => expect(await stopping()).toBe(0));
    expect(await use.job(id)).toMatchObject({ state: 'PENDING' });
  });

  it('gets no job into the store, however many are submitted during the change', async () => {
    await use.start({ policy: allowAll });
    const agent = await giveAgent(use.store);

    const submissions = Array.from({ length: 60 }, async (_, i) => {
      await new Promise((resume) => setTimeout(resume, i * 2));
      return submitted(agent).catch(() => undefined);
    });
    await new Promise((resume) => setTimeout(resume, 40));
    await agent.change({ status: 'revoked' });
    const ids = (await Promise.all(submissions)).filter((id) => id !== undefined);

    expect(ids.length).toBeLessThan(60);
    for (const id of ids) await use.until(id, 'CANCELLED');
    await eventually(async () => expect(await stopping()).toBe(0));
    expect(await openJobs(agent)).toEqual([]);
  });
});

describe('a job that waits while its agent is changed', () => {
  it('is not dispatched to a worker that becomes free; it is denied when the scope no longer covers it', async () => {
    await use.start();
    const agent = await giveAgent(use.store);
    const id = await submitted(agent, { capability: 'mail.send' });
    await use.until(id, 'PENDING', { waiting_reason: 'no_workers' });
    await agent.change({ allowed_tools: ['mail.read'] });

    const worker = await use.rawWorker({ id: 'w1' });

    await use.until(id, 'DENIED', { error_code: 'agent_denied' });
    expect(worker.received).toEqual([]);
    await eventually(async () =>
      expect(await use.store.agents.denied(agent.id)).toMatchObject([
        { tool_name: 'mail.send', sub_reason: 'tool_not_in_allowed_list' },
      ]),
    );
    expect(await openJobs(agent)).toEqual([]);
  });

  it('is dispatched when the scope still covers it', async () => {
    await use.start();
    const agent = await giveAgent(use.store);
    const id = await submitted(agent, { capability: 'mail.send' });
    await use.until(id, 'PENDING', { waiting_reason: 'no_workers' });
    await agent.change({ allowed_tools: ['mail.*'] });

    await use.rawAnswering('SUCCEEDED');

    await use.until(id, 'SUCCEEDED', { agents: `${agent.id}:2` });
    expect(await openJobs(agent)).toEqual([]);
  });

  it('is denied when its pools are no longer allowed', async () => {
    await use.start();
    const agent = await giveAgent(use.store);
    const id = await submitted(agent);
    await use.until(id, 'PENDING', { waiting_reason: 'no_workers' });
    await agent.change({ allowed_pools: ['elsewhere'] });

    const worker = await use.rawWorker({ id: 'w1' });

    await use.until(id, 'DENIED', { error_code: 'agent_denied' });
    expect(worker.received).toEqual([]);
  });
});

describe('the worker of an agent that is stopped', () => {
  it('is refused within a second, and accepted again after the agent was activated', async () => {
    const scheduler = await use.start({ env: { workerAttestation: 'enforce' } });
    const agent = await giveAgent(use.store);
    const token = await giveCredential(use.store, { worker: 'w1', tenant: 'acme', agent: agent.id });
    await scheduler.ctx.trust.sync();
    await use.rawWorker({ id: 'w1', token });
    await eventually(() => expect(scheduler.ctx.trust.find('w1')).toBeDefined());

    const began = performance.now();
    await agent.change({ status: 'suspended' });
    await eventually(() => expect(scheduler.ctx.trust.find('w1')).toBeUndefined());

    expect(performance.now() - began).toBeLessThan(1_000);
    expect(scheduler.ctx.trust.scopeOf('w1')).toEqual({ pools: [], topics: [] });
    await agent.change({ status: 'active' });
    await eventually(() => expect(scheduler.ctx.trust.find('w1')).toBeDefined());
  });
});

describe('a job that waits while its delegation ends', () => {
  const delegated = async (subject: GivenAgent, target: GivenAgent, ttlSec = 900) => {
    const nowSec = Math.floor(Date.now() / 1_000);
    const wanted = {
      subject: { id: subject.id, allowed_tools: ['*'], allowed_topics: ['*'] },
      ...{ audience: target.id, tenant: 'acme', actions: undefined, topics: undefined, ttlSec, parent: undefined },
      ...{ maxDepth: 3, jti: randomUUID().replaceAll('-', ''), nowSec },
    };
    const outcome = delegate(wanted);
    if ('fault' in outcome) throw new Error(outcome.fault);
    const act = { event_type: 'delegation.lineage', action: 'delegation.issue', severity: 'MEDIUM', identity: 'ann', extra: { by: 'test' } } as const;
    const agents = `${subject.id}:1 ${target.id}:1`;
    expect(await use.store.delegations.issue({ claims: outcome.claims, agents, act })).toBe('issued');
    return { token: signToken(outcome.claims, delegationKeys), jti: wanted.jti, act };
  }; // prettier-ignore

  it('is never dispatched once the token was revoked', async () => {
    await use.start();
    const [a, b] = [await giveAgent(use.store), await giveAgent(use.store)];
    const { token, jti, act } = await delegated(a, b);
    const id = await submitted(b, { delegation_token: token });
    await use.until(id, 'PENDING', { waiting_reason: 'no_workers' });
    await use.store.delegations.revoke('acme', {
      ...{ jti, at: new Date().toISOString(), reason: '', cascade: true, act, cascadedAct: act },
    });

    const worker = await use.rawWorker({ id: 'w1' });

    await use.until(id, 'DENIED', { error_code: 'delegation.revoked_before_dispatch' });
    expect(worker.received).toEqual([]);
    expect([await openJobs(a), await openJobs(b)]).toEqual([[], []]);
  });

  it('is dispatched while the token holds, and its record says when that was verified', async () => {
    await use.start();
    const [a, b] = [await giveAgent(use.store), await giveAgent(use.store)];
    const { token } = await delegated(a, b);
    const id = await submitted(b, { delegation_token: token });
    await use.until(id, 'PENDING', { waiting_reason: 'no_workers' });
    expect([await openJobs(a), await openJobs(b)]).toEqual([[id], [id]]);

    await use.rawAnswering('SUCCEEDED');

    const job = await use.until(id, 'SUCCEEDED');
    expect(job.delegation).toMatchObject({ verified_at: expect.any(Number), reverified_at_dispatch: expect.any(Number) });
    expect([await openJobs(a), await openJobs(b)]).toEqual([[], []]);
  }); // prettier-ignore
});
