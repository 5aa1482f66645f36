import type { AuditAct } from '@svc/contract';
import type { RefusedRequest } from '@svc/http';
import { RefusedCredentials } from './refused-credentials';

const refused = (ip: string, over: Partial<RefusedRequest> = {}): RefusedRequest => ({
  code: 'unauthorized',
  credential: 'api_key',
  method: 'GET',
  path: '/api/v1/jobs',
  ip,
  requestId: 'r-1',
  ...over,
});

describe('refused credentials', () => {
  let nowMs = 0;
  let acts: AuditAct[] = [];
  let refusals: RefusedCredentials;
  beforeEach(() => {
    [nowMs, acts] = [1_000_000, []];
    refusals = new RefusedCredentials({
      record: async (act) => void acts.push(act),
      onUnrecorded: (error) => {
        throw error;
      },
      nowMs: () => nowMs,
    });
  });
  afterEach(() => refusals.flush());
  const counts = () => acts.map(({ extra }) => Number(extra?.['count']));
  const total = () => counts().reduce((sum, count) => sum + count, 0);

  it('the first of an address is recorded at once, those after it together', async () => {
    for (let i = 0; i < 1_000; i++) refusals.note(refused('203.0.113.7'));
    expect(counts()).toEqual([1]);

    nowMs += 10_000;
    await refusals.flush();
    expect(counts()).toEqual([1, 999]);
    expect(acts[1]).toMatchObject({
      event_type: 'system.auth',
      action: 'auth.failure',
      severity: 'MEDIUM',
      reason: 'unauthorized',
      extra: { source_ip: '203.0.113.7', auth_method: 'api_key', path: '/api/v1/jobs' },
    });
  });

  it('addresses of one IPv6 network count as one', async () => {
    for (let i = 1; i <= 50; i++) refusals.note(refused(`2001:db8::${i.toString(16)}`));
    await refusals.flush();

    expect(counts()).toEqual([1, 49]);
  });

  it('a flood from many addresses does not fill the chain, and each refusal is counted', async () => {
    let sent = 0;
    for (let window = 0; window < 3 * 360; window++) {
      for (let i = 0; i < 100; i++, sent++) refusals.note(refused(`10.${window % 256}.${i}.1`));
      nowMs += 10_000;
      await refusals.flush();
    }

    expect(total()).toBe(sent);
    expect(acts.length).toBeLessThanOrEqual(3 * (500 + 360));
  });

  it('a request without a credential is not recorded', async () => {
    refusals.note(refused('203.0.113.7', { credential: 'none' }));
    await refusals.flush();

    expect(acts).toEqual([]);
  });

  it('nothing of a long path but its beginning is kept', () => {
    refusals.note(refused('203.0.113.7', { path: `/${'x'.repeat(5_000)}` }));

    expect(acts[0]?.extra?.['path']).toHaveLength(128);
  });
});
