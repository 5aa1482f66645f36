import { useApi } from './api.testing';

describe('metrics of the gateway', () => {
  const api = useApi();
  /** The value of a series; 0 when it does not exist yet. */
  const value = async (name: string, ...labels: string[]): Promise<number> => {
    const lines = (await api.metrics()).split('\n').filter((line) => /^\w+/.exec(line)?.[0] === name);
    const line = lines.find((one) => labels.every((label) => one.includes(label)));
    return Number(line?.split(' ').at(-1) ?? 0);
  };

  it('count rejected submissions by error code, and no other rejected requests', async () => {
    const count = () => value('svc_gateway_submit_rejected_total', 'reason="invalid_body"');
    const before = await count();

    await api.as('admin').post('/api/v1/jobs', { topic: 7 });
    await api.as('admin').post('/api/v1/config', { data: 7 });
    await api.as('admin').post('/api/v1/jobs', { prompt: 'hello', topic: 'job.demo.echo' });

    expect((await count()) - before).toBe(1);
  });

  it.each(['approve', 'reject'] as const)('count a resolution and the time the job was held: %s', async (decision) => {
    const decisions = () => value('svc_approval_decisions_total', `decision="${decision}"`);
    const latencies = () => value('svc_approval_latency_seconds_count');
    const id = await api.given.job({ state: 'APPROVAL_REQUIRED' });
    const before = [await decisions(), await latencies()] as const;

    await api.as('boss').post(`/api/v1/approvals/${id}/${decision}`, {});
    await api.as('boss').post(`/api/v1/approvals/${id}/${decision}`, {});

    expect([(await decisions()) - before[0], (await latencies()) - before[1]]).toEqual([1, 1]);
  });
});
