import { canonicalHash } from '@svc/json';
import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';
import { entry, evalCalls, readItems, many, passing } from './evals.testing';

const invalid = { status: 400, code: 'EVAL_DATASET_VALIDATION_FAILED' };

describe('evaluation datasets', () => {
  const api = useApi();
  const { create, dataset, get, put, del } = evalCalls(api);

  it('201: a dataset is stored with the tenant in each input, and its hash is that of the entries as they are read', async () => {
    const { status, body } = await create('refunds', passing, { description: 'of the shop' });

    expect({ status, body }).toEqual({
      status: 201,
      body: {
        id: expect.any(String) as string,
        ...{
          name: 'refunds',
          version: 1,
          tenant: 'acme',
          description: 'of the shop',
          created_by: 'ann',
          entry_count: 3,
        },
        content_hash: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
        created_at: expect.any(String) as string,
        updated_at: body['created_at'],
      },
    });
    const read = (await get(`datasets/${String(body['id'])}`)).body;
    expect(read).toEqual({
      ...body,
      entries: passing.map((one) => ({ ...one, input: { ...one.input, tenant: 'acme' }, source: 'manual' })),
    });
    expect(canonicalHash(read['entries'])).toBe(body['content_hash']);
  });

  it('201: changed entries are the next version; each version keeps its entries; 409: a version that exists', async () => {
    const first = await dataset('set', many(1));
    const { body: second } = await put(first, { entries: many(2) });
    const { body: tenth } = await create('set', many(3), { version: 10, description: 'ten' });

    expect([second['version'], tenth['version']]).toEqual([2, 10]);
    expect((await create('set', many(1))).body['version']).toBe(11);
    const conflict = { status: 409, code: 'EVAL_DATASET_VERSION_CONFLICT' };
    expect(statusAndCode(await create('set', many(1), { version: 2 }))).toEqual(conflict);
    expect(statusAndCode(await put(first, { version: 10, entries: many(1) }))).toEqual(conflict);
    expect(readItems(await get('datasets/by-name/set')).map(({ version, entry_count }) => [version, entry_count])).toEqual([
      [11, 1], [10, 3], [2, 2], [1, 1],
    ]); // prettier-ignore
    expect((await get('datasets/by-name/set/versions/10')).body).toMatchObject({ description: 'ten', entry_count: 3 });
    expect((await get(`datasets/${first}`)).body['entries']).toHaveLength(1);
    expect(statusAndCode(await get('datasets/by-name/set/versions/7'))).toEqual({ status: 404, code: 'eval_dataset_not_found' }); // prettier-ignore
    expect(statusAndCode(await get('datasets/by-name/none'))).toEqual({ status: 404, code: 'eval_dataset_not_found' });
  });

  it('201: concurrent versions of a name get different numbers', async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => create('raced', many(1))));

    expect(answers.map(({ body }) => body['version']).sort()).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('200: lists are newest first, filtered, and paged; without entries', async () => {
    for (const name of ['alpha-1', 'beta-1', 'alpha-2']) await dataset(name, many(1));
    const names = async (query: string) => readItems(await get(`datasets?${query}`)).map(({ name }) => name);

    expect(await names('')).toEqual(['alpha-2', 'beta-1', 'alpha-1']);
    expect(await names('name_prefix=alpha')).toEqual(['alpha-2', 'alpha-1']);
    expect(await names(`created_after=${Date.now() + 60_000}`)).toEqual([]);
    expect(await names('created_before=2020-01-01T00:00:00Z')).toEqual([]);
    const first = await get('datasets?limit=2');
    expect(readItems(first)[0]).not.toHaveProperty('entries');
    const rest = await get(`datasets?limit=2&cursor=${String(first.body['next_cursor'])}`);
    expect(readItems(rest).map(({ name }) => name)).toEqual(['alpha-1']);
    expect(rest.body['next_cursor']).toBe('');
    expect((await get('datasets?limit=201')).status).toBe(400);
  });

  it('204: a confirmed deletion; the number of a deleted version is not assigned again', async () => {
    const ids = [await dataset('gone', many(1)), await dataset('gone', many(1))];

    const unconfirmed = await del(`datasets/${ids[1]}`);
    expect(unconfirmed).toMatchObject({ status: 400, body: { violations: [{ field: 'force' }] } });
    expect((await del(`datasets/${ids[1]}?force=true`)).status).toBe(204);
    expect(statusAndCode(await del(`datasets/${ids[1]}?force=true`))).toEqual({ status: 404, code: 'eval_dataset_not_found' }); // prettier-ignore
    expect((await get(`datasets/${ids[1]}`)).status).toBe(404);
    expect((await create('gone', many(1))).body['version']).toBe(3);
    const entries = await api.store.redis.keys('*evals:entries:*');
    expect(entries).toHaveLength(2);
  });

  it.each([
    ['a name with capitals', { name: 'Set' }, 'name'],
    ['no entries', { entries: [] }, 'entries'],
    ['more than 10,000 entries', { entries: Array<number>(10_001).fill(1) }, 'entries'],
    ['two entries of one id', { entries: [...many(1), ...many(1)] }, 'entries[1].id'],
    ['an entry without a topic', { entries: [{ ...many(1)[0], input: {} }] }, 'entries[0].input.topic'],
    ['an unknown decision', { entries: [entry('a', 'job.a', 'allow')] }, 'entries[0].expected_decision'],
    ['more than 32 notes', { entries: [{ ...many(1)[0], metadata: Object.fromEntries(many(33).map(({ id }) => [id, 1])) }] }, 'entries[0].metadata'],
    ['a negative version', { version: -1 }, 'version'],
  ])('400: %s', async (_, body, path) => {
    const answer = await api.as('admin').post('/api/v1/evals/datasets', { name: 'set', entries: many(1), ...body });

    expect(statusAndCode(answer)).toEqual(invalid);
    expect(answer.body['violations']).toMatchObject([{ path }]);
  }); // prettier-ignore

  it('400: at most 100 violations of a large body are reported', async () => {
    const { status, body } = await create('set', Array<object>(10_000).fill({ id: '' }));

    expect({ status, count: (body['violations'] as unknown[]).length }).toEqual({ status: 400, count: 100 });
  });

  it('413: more than 16 MiB', async () => {
    const answer = await create('set', [{ ...many(1)[0], notes: 'x'.repeat(16_777_216) }]);

    expect(statusAndCode(answer)).toEqual({ status: 413, code: 'EVAL_DATASET_VALIDATION_FAILED' });
  });

  it('405: other methods of the paths, with those that are supported', async () => {
    const methods = async (method: string, path: string) => {
      const { status, headers } = await api.as('admin').send(method, `/api/v1/evals/${path}`);
      return [status, headers['allow']];
    };

    expect(await methods('DELETE', 'datasets')).toEqual([405, 'POST, GET']);
    expect(await methods('GET', 'datasets/from-incidents')).toEqual([405, 'POST']);
    expect(await methods('DELETE', 'datasets/from-incidents')).toEqual([405, 'POST']);
    expect(await methods('POST', 'datasets/by-name/x')).toEqual([405, 'GET']);
  });

  it('each change is in the policy audit', async () => {
    const id = await dataset('audited', many(1));
    await del(`datasets/${id}?force=true`);

    const { body } = await api.as('admin').get('/api/v1/policy/audit?type=eval_dataset');

    expect((body['items'] as Record<string, unknown>[]).map(({ action, resource_id, resource_name }) => [action, resource_id, resource_name])).toEqual([
      ['delete', id, 'audited'],
      ['create', id, 'audited'],
    ]); // prettier-ignore
  });
});
