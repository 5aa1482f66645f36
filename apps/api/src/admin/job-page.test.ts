import fc from 'fast-check';
import { keys } from '@svc/store';
import request from 'supertest';
import { apiKeys, useAdminSite } from './admin.testing';
import { html } from './html';
import { givenJobs } from './jobs.testing';

describe('GET /admin/jobs/:id', () => {
  const site = useAdminSite();
  const open = (id: string, apiKey: string = apiKeys.admin) =>
    request(site.url)
      .get(`/admin/jobs/${encodeURIComponent(id)}`)
      .set({ 'X-API-Key': apiKey, Accept: 'text/html' });
  const getText = async (id: string) => {
    const page = await open(id);
    expect(page.status).toBe(200);
    return page.text.replace(/\s*(<|>)\s*/g, '$1');
  };

  it('200: shows the queue of a job, its waiting reason, history and policy decisions', async () => {
    await givenJobs(site.store).waiting('j', { topic: 'job.translate', request: { labels: { team: 'blue' } } });

    const text = await getText('j');

    expect(text).toContain('job.translate');
    expect(text).toContain('<a href="/admin/queues/queue/jobs-waiting">Waiting for a worker</a>');
    expect(text).toContain('<strong>no_workers</strong>');
    expect(text).toContain('<td>submit</td>');
    expect(text).toContain('<td>nothing against it</td>');
    expect(text).toContain('<dt>team</dt><dd>blue</dd>');
    for (const path of ['/api/v1/jobs/j', '/api/v1/jobs/j/decisions', '/api/v1/traces/trace-of-j', '/swagger/']) {
      expect(text).toContain(`href="${path}"`);
    }
  });

  it('200: shows the approval of a held job and the dead letter of a failed one', async () => {
    const given = givenJobs(site.store);
    await given.held('held');
    await given.failed('broken', { reason: 'out of memory' });

    expect(await getText('held')).toContain('<dt>reason</dt><dd>a person must decide</dd>');
    expect(await getText('broken')).toMatch(/Dead letter[\s\S]*<dt>reason<\/dt><dd>out of memory<\/dd>/);
  });

  it('200: shows findings of an output, and no part of a quarantined one', async () => {
    const result_ptr = 'redis://res:j';
    await givenJobs(site.store).inFlight('j', { fields: { result_ptr } });
    await site.redis.set(keys.result('j'), JSON.stringify({ answer: 'hunter2' }));
    expect(await getText('j')).toContain('hunter2');

    await site.store.jobs.move('*', 'j', 'quarantine', {
      set: {
        output_safety: {
          decision: 'QUARANTINE',
          reason: 'holds a secret',
          rule_id: 'rule-9',
          policy_snapshot: 's',
          findings: [{ type: 'secret_leak', severity: 'critical', scanner: 'secrets', detail: 'a password' }],
          phase: 'sync',
          checked_at: 1_700_000_000_000_000,
          check_duration_ms: 3,
        },
      },
    });

    const text = await getText('j');
    expect(text).toContain('<td>secret_leak</td><td>critical</td><td>secrets</td><td>a password</td>');
    expect(text).not.toContain('hunter2');
  });

  it('shows hostile text as text, from any source', async () => {
    const hostile = `"'><img src=x onerror=alert(1)><script>alert(2)</script></pre></style>`;
    const id = `j${hostile}`;
    await givenJobs(site.store).failed(id, {
      topic: hostile,
      prompt: hostile,
      reason: hostile,
      request: { labels: { [hostile]: hostile }, risk_tags: [hostile], actor_id: hostile, capability: hostile },
      fields: { progress_percent: 1, progress_message: hostile, approval: { status: 'pending', revision: 1, note: hostile } },
    }); // prettier-ignore

    const page = await open(id);

    expect(page.status).toBe(200);
    expect(page.text).not.toMatch(/<script|<img|<\/pre><\/style>|=\s*"[^"]*"'/);
    expect(page.text.match(/&lt;script&gt;alert\(2\)/g)?.length).toBeGreaterThanOrEqual(8);
    expect(page.text.match(/<(style|\/style|h1|pre)\b/g)?.sort()).toEqual(['</style', '<h1', '<pre', '<style']);
    expect(page.get('Content-Security-Policy')).toMatch(/^default-src 'none'; style-src 'sha256-/);
  });

  it('200: a dead letter whose job record has expired', async () => {
    await givenJobs(site.store).failed('old', { reason: 'out of memory' });
    await site.redis.del(keys.job('old'));

    const text = await getText('old');

    expect(text).toContain('has expired');
    expect(text).toContain('<dd>out of memory</dd>');
  });

  it('403: a job of another tenant, also if only its dead letter remains', async () => {
    await givenJobs(site.store).failed('theirs', { tenant: 'globex', reason: 'secret' });

    const before = await open('theirs');
    await site.redis.del(keys.job('theirs'));
    const after = await open('theirs');

    for (const { status, text } of [before, after]) expect([status, text.includes('secret')]).toEqual([403, false]);
    expect((await open('theirs', apiKeys.everywhere)).status).toBe(200);
  });

  it.each(['none', 'x'.repeat(2_000)])('404: no such job', async (id) => {
    const page = await open(id);

    expect([page.status, page.type]).toEqual([404, 'text/html']);
    expect((await open(id).set('Accept', 'application/json')).body).toMatchObject({ code: 'job_not_found' });
  });

  it('404: unknown pages, in the requested format', async () => {
    const get = () => request(site.url).get('/admin/nothing').set('X-API-Key', apiKeys.admin);

    expect((await get().set('Accept', 'text/html')).text).toContain('404');
    expect((await get()).body).toMatchObject({ code: 'not_found', status: 404 });
  });

  it.each([[''], ['viewer']])('401 or 403: callers other than admins (%s)', async (who) => {
    await givenJobs(site.store).toDecide('j', { prompt: 'secret' });
    const program = request(site.url)
      .get('/admin/jobs/j')
      .set(who ? { 'X-API-Key': apiKeys.viewer } : {});

    const { status, text } = await program;

    expect([status, text.includes('secret')]).toEqual([who ? 403 : 401, false]);
  });
});

describe('html', () => {
  it('escapes all values', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('<', '>', '"', "'", '&', 'a', '/', '=') }), (value) => {
        const { text } = html`<b title="${value}">${[value]}</b>`;
        expect(text.match(/[<>"']/g)?.join('')).toBe('<"">' + '<>');
        const decoded = text.replace(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => ({ lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' })[name] ?? '');
        expect(decoded).toBe(`<b title="${value}">${value}</b>`);
      }),
    );
  }); // prettier-ignore

  it('inserts nested html and lists unchanged, and omits absent values', () => {
    expect(html`${[html`<i>${0}</i>`, 'a']}${undefined}${null}${false}`.text).toBe('<i>0</i>a');
  });
});
