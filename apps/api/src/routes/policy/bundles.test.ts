import { bundleSignatureFault, type BundleRecord } from '@svc/policy';
import { eventually } from '@svc/testing';
import { createHash } from 'node:crypto';
import { useApi } from '../../api.testing';
import { bundleKeys } from '../../bundle-keys.testing';
import { statusAndCode } from '../../caller.testing';
import { bundleCalls, ban } from './policy.testing';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe('PUT /api/v1/policy/bundles/:bundle_id', () => {
  const api = useApi();
  const { put, get, remove, content, submit } = bundleCalls(api);

  it('200: an enabled bundle is stored, signed, announced, and in effect within a second', async () => {
    expect((await submit('job.demo.echo')).status).toBe(200);

    const answer = await put('secops~invariants', { content: ban('no-echo', 'job.demo.echo'), message: 'quiet hours' });

    expect(answer).toMatchObject({ status: 200, body: { id: 'secops/invariants', signature: { key_id: 'tests' } } });
    await eventually(async () =>
      expect(statusAndCode(await submit('job.demo.echo'))).toEqual({ status: 403, code: 'policy_denied' }),
    );
    expect(await api.packets()).toContain('sys.config.changed');
    const stored = (await get('secops~invariants')).body;
    expect(stored).toMatchObject({ id: 'secops/invariants', enabled: true, author: 'ann', message: 'quiet hours' });
    const record = stored as unknown as BundleRecord;
    expect(bundleSignatureFault(record, new Map([['TESTS', bundleKeys.publicKey]]))).toBeUndefined();
    expect([stored['sha256'], answer.body['sha256']]).toEqual([sha256(record.content), sha256(record.content)]);
  });

  it('200: a draft is stored and not in effect', async () => {
    const before = await api.kernel.listSnapshots();
    await put('secops~invariants', { content: ban('no-echo', 'job.demo.echo'), enabled: false });
    await put('secops~other', { content: content('other') });

    await eventually(async () => expect((await api.kernel.listSnapshots())[0]).not.toBe(before[0]));
    expect((await submit('job.demo.echo')).status).toBe(200);
    expect((await get('secops~invariants')).body['enabled']).toBe(false);
  });

  it('200: the query takes precedence over the path, and the path may contain an encoded slash', async () => {
    expect((await put('x', { content: content('a') }, {}, '?bundle_id=secops/a')).body['id']).toBe('secops/a');
    expect((await put('secops%2Fb', { content: content('b') })).body['id']).toBe('secops/b');
    expect((await get('nothing', '?bundle_id=secops/a')).body['id']).toBe('secops/a');
  });

  it('200: replacing keeps the creation time; keys without a value are not stored', async () => {
    await put('secops~a', { content: content('a') });
    const before = (await get('secops~a')).body;

    await put('secops~a', { content: `default_tenant: ''\n# kept\n${content('b')}`, author: 'crew' });

    const after = (await get('secops~a')).body;
    expect(after).toMatchObject({ created_at: before['created_at'], author: 'ann' });
    expect(after['content']).toMatch(/^# kept\nrules:/);
    expect(after).not.toHaveProperty('message');
  });

  describe('409 POLICY_VERSION_CONFLICT', () => {
    const stale = { status: 409, code: 'POLICY_VERSION_CONFLICT' };

    it('a write with an outdated hash, by header or by field', async () => {
      const { body } = await put('secops~a', { content: content('a') });
      const seen = String(body['sha256']);
      await put('secops~a', { content: content('b') });

      expect(statusAndCode(await put('secops~a', { content: content('c') }, { 'If-Match': `"${seen}"` }))).toEqual(
        stale,
      );
      expect(statusAndCode(await put('secops~a', { content: content('c'), expected_sha256: seen }))).toEqual(stale);
      expect(statusAndCode(await remove('secops~a', { 'If-Match': `"${seen}"` }))).toEqual(stale);
      expect(statusAndCode(await put('secops~new', { content: content('c') }, { 'If-Match': '*' }))).toEqual(stale);
      const { etag = '' } = (await get('secops~a')).headers;
      expect((await put('secops~a', { content: content('c') }, { 'If-Match': etag })).status).toBe(200);
    });

    /** Performs another write just before the next one is stored. */
    const between = (other: () => Promise<unknown>) => {
      const { policy } = api.store;
      const replace = policy.replace.bind(policy);
      jest.spyOn(policy, 'replace').mockImplementationOnce(async (...args) => {
        await other();
        return replace(...args);
      });
    };

    it('a write without a hash that races with another write of the same bundle', async () => {
      between(() => put('secops~a', { content: content('first') }));
      expect(statusAndCode(await put('secops~a', { content: content('second') }))).toEqual(stale);
      expect((await get('secops~a')).body['content']).toBe(content('first'));

      between(() => put('secops~b', { content: content('b') }));
      expect((await put('secops~a', { content: content('third') })).status).toBe(200);
      expect((await get('secops~b')).status).toBe(200);
    });

    it('of concurrent replacements of the same text, one succeeds', async () => {
      const { body } = await put('secops~a', { content: content('a') });
      const seen = { 'If-Match': `"${String(body['sha256'])}"` };

      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, i) => put('secops~a', { content: content(`w${i}`) }, seen)),
      );

      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(answers.filter(({ status }) => status !== 200).map(statusAndCode)).toEqual(
        Array.from({ length: 7 }, () => stale),
      );
    });
  });

  it.each([
    ['no YAML', 'rules: [', 1],
    ['an unknown key', 'rules: []\nrulez: []', 2],
    ['an unknown decision', 'rules:\n  - id: a\n    decision: perhaps', 3],
    ['a bad pattern', 'input_rules:\n  - id: a\n    decision: deny\n    match: {content_patterns: ["(a"]}', 4],
    ['nothing but space', '  \n', 1],
  ])('400 POLICY_VALIDATION_FAILED: %s, with its line', async (_, text, line) => {
    const answer = await put('secops~a', { content: text });

    expect(statusAndCode(answer)).toEqual({ status: 400, code: 'POLICY_VALIDATION_FAILED' });
    expect(answer.body['violations']).toMatchObject([{ in: 'body', field: 'content', line }]);
    expect((await get('secops~a')).status).toBe(404);
  });

  it('400 POLICY_VALIDATION_FAILED: every problem at once; a text that is empty or missing', async () => {
    const many = await put('secops~a', { content: 'a: 1\nb: 2\nrules:\n  - {id: x, decision: y}' });

    expect(many.body['violations']).toMatchObject([{ line: 1 }, { line: 2 }, { line: 4 }]);
    for (const body of [{ content: '' }, {}])
      expect(statusAndCode(await put('secops~a', body))).toEqual({ status: 400, code: 'POLICY_VALIDATION_FAILED' });
  });

  it.each([
    [
      'aliases that multiply',
      `a: &a [x,x,x,x,x,x,x,x,x]\n${[...'bcdefgh'].map((k, i) => `${k}: &${k} [${Array(9).fill(`*${'abcdefg'[i]}`).join(',')}]`).join('\n')}`,
    ],
    ['keys within keys', `${'{'.repeat(900)}a: 1${'}: 1'.repeat(899)}}`],
    ['lists within lists', `rules: ${'['.repeat(60_000)}${']'.repeat(60_000)}`],
    [
      'a pattern that runs away',
      `input_rules:\n  - {id: a, decision: deny, match: {content_patterns: ["(?=(a+)+$)b"]}}`,
    ],
    [
      'a pattern that is huge',
      `input_rules:\n  - {id: a, decision: deny, match: {content_patterns: ["((a{1000}){1000}){1000}"]}}`,
    ],
    ['a million faults', `rules:\n${'  - {}\n'.repeat(50_000)}`],
  ])('400 POLICY_VALIDATION_FAILED in bounded time: %s', async (_, text) => {
    const answer = await put('secops~a', { content: text });

    expect(statusAndCode(answer)).toEqual({ status: 400, code: 'POLICY_VALIDATION_FAILED' });
    expect((answer.body['violations'] as unknown[]).length).toBeLessThanOrEqual(100);
  });

  it.each([
    ['velocity~pace', 'velocity-rules'],
    ['acme-pack~rules', 'pack'],
    ['workflow~w1~policy', 'workflow'],
    ['secops', 'pack'],
    ['secops~a~b', 'bundle id'],
    ['secops~.a', 'bundle id'],
    [`secops~${'a'.repeat(129)}`, 'bundle id'],
  ])('400 bundle_not_writable: %s', async (id, why) => {
    for (const answer of [await put(id, { content: content('a') }), await remove(id)]) {
      expect(statusAndCode(answer)).toEqual({ status: 400, code: 'bundle_not_writable' });
      expect(answer.body['error']).toContain(why);
    }
  });

  it('403 tenant_access_denied: admins of other tenants; 200: callers with access to all tenants', async () => {
    const denied = { status: 403, code: 'tenant_access_denied' };

    expect(statusAndCode(await put('secops~a', { content: content('a') }, {}, '', api.as('other')))).toEqual(denied);
    expect(
      (await put('secops~a', { content: content('a') }, { 'X-Tenant-ID': 'globex' }, '', api.as('everywhere'))).status,
    ).toBe(200);
    expect(statusAndCode(await remove('secops~a', {}, api.as('other')))).toEqual(denied);
  });

  it('403 tier_limit_exceeded: one more than the plan allows; existing ones can be changed', async () => {
    api.license('enterprise', { max_policy_bundles: 2 });
    await put('secops~a', { content: content('a') });
    await put('secops~b', { content: content('b') });

    const third = await put('secops~c', { content: content('c') });

    expect(third).toMatchObject({
      status: 403,
      body: { code: 'tier_limit_exceeded', limit: 'max_policy_bundles', current: 2, allowed: 2 },
    });
    expect((await put('secops~a', { content: content('d') })).status).toBe(200);
  });

  it('is in the policy audit, newest first, with filters and pages', async () => {
    await put('secops~a', { content: content('a'), message: 'Because of Tuesday' });
    await put('secops~b', { content: content('b') });
    await remove('secops~a');
    const audit = async (query = '', as = api.as('admin')) => (await as.get(`/api/v1/policy/audit${query}`)).body;

    const all = await audit();
    expect(all).toMatchObject({ total: 3, has_more: false, offset: 0 });
    expect(all['items']).toMatchObject([
      {
        action: 'delete',
        resource_id: 'secops/a',
        actor_id: 'ann',
        role: 'admin',
        auth_source: 'api_key',
        tenant_id: 'acme',
      },
      { action: 'edit', resource_type: 'policy', resource_id: 'secops/b', bundle_ids: ['secops/b'] },
      { action: 'edit', resource_id: 'secops/a', message: 'Because of Tuesday' },
    ]);
    expect(await audit('?limit=1&offset=1')).toMatchObject({
      items: [{ resource_id: 'secops/b' }],
      total: 3,
      has_more: true,
      offset: 1,
    });
    expect(await audit('?search=tuesday')).toMatchObject({ items: [{ action: 'edit' }], total: 1 });
    expect(await audit('?action=delete&type=policy')).toMatchObject({ total: 1 });
    expect(await audit('?type=velocity_rule')).toMatchObject({ total: 0, items: [] });
    const [, middle] = all['items'] as { created_at: string }[];
    expect(await audit(`?after=${middle?.created_at ?? ''}`)).toMatchObject({ total: 2 });
    expect(await audit(`?before=${Date.parse(middle?.created_at ?? '') - 1}`)).toMatchObject({ total: 1 });
    expect((await api.as('admin').get('/api/v1/policy/audit?after=yesterday')).status).toBe(400);
    expect(await audit('', api.as('other'))).toMatchObject({ total: 0 });
  });

  it('stays in the policy audit regardless of later evaluations, which have their own limit', async () => {
    await put('secops~a', { content: content('a') });
    const evaluate = () => api.as('admin').post('/api/v1/policy/evaluate', { topic: 'job.demo.echo' });
    const audit = async (query: string) => (await api.as('admin').get(`/api/v1/policy/audit?${query}`)).body;

    for (let sent = 0; sent < 510; sent += 30) await Promise.all(Array.from({ length: 30 }, evaluate));

    await eventually(async () => expect(await audit('action=policy.evaluate')).toMatchObject({ total: 500 }));
    expect(await audit('action=edit')).toMatchObject({ items: [{ resource_id: 'secops/a' }], total: 1 });
    const { items, total } = (await audit('limit=500&offset=1')) as { items: { action: string }[]; total: number };
    expect({ total, oldest: items.at(-1)?.action }).toEqual({ total: 501, oldest: 'edit' });
  });
});

describe('GET /api/v1/policy/bundles', () => {
  const api = useApi();
  const { put, get, list, content } = bundleCalls(api);

  it('200: every bundle by id, with its metadata; content only once', async () => {
    expect((await list()).body).toEqual({ bundles: {}, items: [], updated_at: null });
    await put('secops~b', { content: content('b') });
    await put('secops~a', { content: `${content('a')}\noutput_rules: [{id: o, decision: deny}]`, enabled: false });

    const { body } = await list(api.as('other'));

    expect(body['items']).toMatchObject([
      { id: 'secops/a', source: 'secops', enabled: false, rule_count: 2, author: 'ann' },
      { id: 'secops/b', source: 'secops', enabled: true, rule_count: 1 },
    ]);
    expect(JSON.stringify(body['items'])).not.toContain('job.b');
    expect(body['bundles']).toMatchObject({ 'secops/b': { content: expect.stringContaining('job.b') } });
    expect(body['updated_at']).toMatch(/^20/);
  });

  it('200: bundles stored by other software are shown as far as they are valid', async () => {
    const data = {
      bundles: {
        'acme/rules': 'rules: []',
        'job/j/policy': { content: 'rules: [', enabled: false, author: 3 },
        bad: 7,
      },
    };
    await api.store.config.replace(
      { scope: 'system', scope_id: 'policy', data, revision: 1, updated_at: 't', meta: {} },
      0,
    );

    const { body } = await list();

    expect(body['items']).toMatchObject([
      { id: 'acme/rules', source: 'pack', enabled: true, rule_count: 0 },
      { id: 'job/j/policy', source: 'core', enabled: false, rule_count: 0 },
    ]);
    expect((await get('bad')).status).toBe(404);
  });

  it('404 bundle_not_found', async () => {
    expect(statusAndCode(await get('secops~none'))).toEqual({ status: 404, code: 'bundle_not_found' });
    expect(statusAndCode(await api.as('admin').del('/api/v1/policy/bundles/secops~none'))).toEqual({
      status: 404,
      code: 'bundle_not_found',
    });
  });
});

describe('DELETE /api/v1/policy/bundles/:bundle_id', () => {
  const api = useApi();
  const { put, get, remove, submit } = bundleCalls(api);

  it('204: its rules are no longer in effect', async () => {
    await put('secops~invariants', { content: ban('no-echo', 'job.demo.echo') });
    await eventually(async () => expect((await submit('job.demo.echo')).status).toBe(403));

    expect((await remove('secops~invariants')).status).toBe(204);

    await eventually(async () => expect((await submit('job.demo.echo')).status).toBe(200));
    expect((await get('secops~invariants')).status).toBe(404);
  });
});

describe('a gateway without a key to sign with', () => {
  const unset = { SVC_POLICY_SIGNING_KEY: '' };

  describe('that should sign', () => {
    const api = useApi({ env: unset });
    const { put, list, content } = bundleCalls(api);

    it('503 POLICY_SIGNING_REQUIRED: nothing is stored', async () => {
      expect(statusAndCode(await put('secops~a', { content: content('a') }))).toEqual({
        status: 503,
        code: 'POLICY_SIGNING_REQUIRED',
      });
      expect((await list()).body['items']).toEqual([]);
    });
  });

  describe('that need not', () => {
    const api = useApi({ env: { ...unset, SVC_POLICY_STRICT: 'off' } });
    const { put, get, content, submit } = bundleCalls(api);

    it('200: the bundle is stored unsigned, and takes effect', async () => {
      const answer = await put('secops~a', { content: content('a') });

      expect(answer.status).toBe(200);
      expect(answer.body).not.toHaveProperty('signature');
      expect((await get('secops~a')).body).not.toHaveProperty('_signature');
      await put('secops~invariants', { content: ban('no-echo', 'job.demo.echo') });
      await eventually(async () => expect((await submit('job.demo.echo')).status).toBe(403));
    });
  });
});

describe('a large total size of policies', () => {
  const api = useApi();
  const { put, remove } = bundleCalls(api);

  it('413 request_too_large: over 4 MiB; they can always be made smaller', async () => {
    const large = (id: string, bytes: number) => put(id, { content: `# ${'x'.repeat(bytes)}\nrules: []\n` });
    for (const id of ['secops~a', 'secops~b']) expect((await large(id, 1_900_000)).status).toBe(200);

    expect(statusAndCode(await large('secops~c', 1_900_000))).toEqual({ status: 413, code: 'request_too_large' });

    expect((await large('secops~b', 1_000_000)).status).toBe(200);
    expect((await remove('secops~a')).status).toBe(204);
  });
});

describe('a policy over the size limit of kernels', () => {
  const api = useApi({ env: { SAFETY_POLICY_MAX_BYTES: '8192' } });
  const { put } = bundleCalls(api);

  it('413 request_too_large', async () => {
    const answer = await put('secops~a', { content: `# ${'x'.repeat(8_192)}\nrules: []` });

    expect(answer).toMatchObject({ status: 413, body: { code: 'request_too_large', limit_bytes: 8_192 } });
  });
});
