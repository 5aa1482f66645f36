import { limits } from '@svc/contract';
import { useStore } from './store.testing';

const use = useStore();
let now = 0;

const write = (id: string, document: Record<string, unknown>, maxSchemas = 0, scope = '*') => {
  const alias = document['$id'];
  return use.store.schemas.write(scope, {
    id,
    document,
    ...(typeof alias === 'string' && { alias }),
    maxSchemas,
    nowUs: (now += 1),
  });
};

describe('registered schemas', () => {
  it('are created, replaced and listed by their last write', async () => {
    const outcomes = [await write('a', { title: 'old' }), await write('b', {}), await write('a', { title: 'new' })];

    expect(outcomes.map(({ kind }) => kind)).toEqual(['created', 'created', 'replaced']);
    expect(await use.store.schemas.read('*', 'a')).toEqual({ document: { title: 'new' }, tenant: '' });
    expect([await use.store.schemas.ids('*', 10), await use.store.schemas.ids('*', 1)]).toEqual([['a', 'b'], ['a']]);
  });

  it('are found by their $id, which is unique and removed with its schema', async () => {
    await write('a', { $id: 'acme:item' });

    expect(await write('b', { $id: 'acme:item' })).toEqual({ kind: 'alias_taken', by: 'a' });
    expect(await use.store.schemas.readByAlias('', 'acme:item')).toEqual({ $id: 'acme:item' });

    await write('a', { $id: 'acme:thing' });
    expect(await use.store.schemas.readByAlias('', 'acme:item')).toBeUndefined();
    expect(await write('b', { $id: 'acme:item' })).toEqual({ kind: 'created' });

    await use.store.schemas.remove('*', 'b');
    expect(await use.store.schemas.readByAlias('', 'acme:item')).toBeUndefined();
  });

  it('are limited by the plan; replacing one is always possible', async () => {
    await write('a', {}, 1);

    expect(await write('b', {}, 1)).toEqual({ kind: 'full', count: 1 });
    expect(await write('a', { title: 'new' }, 1)).toEqual({ kind: 'replaced' });
    expect(await write('b', {}, -1)).toEqual({ kind: 'created' });
  });

  it('are removed idempotently, and leave no keys', async () => {
    await write('a', { $id: 'acme:item' });

    expect([await use.store.schemas.remove('*', 'a'), await use.store.schemas.remove('*', 'a')]).toEqual([
      'removed',
      'missing',
    ]);
    expect(await use.store.schemas.read('*', 'a')).toBeUndefined();
    expect(await use.redis.keys('*schema*')).toEqual([]);
  });

  it('of a tenant are found only by that tenant, and leave no keys', async () => {
    await write('a', { $id: 'item' }, 0, 'acme');
    await write('b', { $id: 'item' }, 0, 'globex');

    expect(await use.store.schemas.read('globex', 'a')).toBeUndefined();
    expect(await use.store.schemas.ids('acme', 10)).toEqual(['a']);
    expect(await use.store.schemas.ids('*', 10)).toEqual(['b', 'a']);
    expect(await use.store.schemas.readByAlias('', 'item')).toBeUndefined();
    expect(await use.store.schemas.remove('globex', 'a')).toBe('other_tenant');

    await use.store.schemas.remove('acme', 'a');
    await use.store.schemas.remove('*', 'b');
    expect(await use.redis.keys('*schema*')).toEqual([]);
  });

  it('of a tenant are bounded independently of the plan', async () => {
    const members = Array.from({ length: limits.tenantSchemas }, (_, i) => [i, `s${i}`]).flat();
    await use.redis.zadd('svc:schemas:of:acme', ...members);

    expect(await write('a', {}, 0, 'acme')).toEqual({ kind: 'tenant_full', count: limits.tenantSchemas });
    expect(await write('a', {}, 0, 'globex')).toEqual({ kind: 'created' });
  });
});

describe('a config document', () => {
  const document = (revision: number, data = {}) => ({
    scope: 'system',
    scope_id: 'topics',
    data,
    revision,
    updated_at: '',
    meta: {},
  });

  it('is replaced by one of many writers that read the same revision', async () => {
    expect(await use.store.config.replace(document(1), 0)).toBe(true);
    expect(await use.store.config.replace(document(1), 0)).toBe(false);

    const written = await Promise.all(
      ['a', 'b', 'c'].map((name) => use.store.config.replace(document(2, { name }), 1)),
    );

    expect(written.filter(Boolean)).toHaveLength(1);
    const [stored] = await use.store.config.documents([['system', 'topics']]);
    expect(stored).toMatchObject({ revision: 2, data: { name: ['a', 'b', 'c'][written.indexOf(true)] } });
  });
});
