import { keys } from './keys';
import { runRetention, useRuns } from './run.testing';

const use = useRuns();
const workflows = () => use.store.workflows;
const write = (id: string, document: Record<string, unknown>, expectedVersion?: number, tenant = 'acme') =>
  workflows().write({ tenant, id, document, by: 'bob', ...(expectedVersion !== undefined && { expectedVersion }) });
const remove = (id: string, when?: 'idle') => workflows().remove('acme', id, runRetention, when);

describe('a workflow', () => {
  it('gets a new version with each change, and keeps earlier ones unchanged', async () => {
    const made = await write('w', { name: 'one', steps: { b: {}, a: {} } });
    await write('w', { name: 'two' });

    expect(made).toEqual({ kind: 'written', version: 1, atUs: expect.any(Number) as number });
    expect(await workflows().get('acme', 'w')).toMatchObject({
      kind: 'found',
      value: { id: 'w', tenant: 'acme', version: 2, document: { name: 'two' }, created_by: 'bob', written_by: 'bob' },
    });
    expect(await workflows().version('acme', 'w', 1)).toMatchObject({
      kind: 'found',
      value: { version: 1, document: { name: 'one', steps: { b: {}, a: {} } }, written_by: 'bob' },
    });
    expect(await workflows().version('acme', 'w', 3)).toEqual({ kind: 'missing' });
    expect((await workflows().versions('acme', 'w', 10)).map(({ version }) => version)).toEqual([2, 1]);
    expect(await workflows().versions('acme', 'w', 1)).toMatchObject([{ version: 2, document: { name: 'two' } }]);
  });

  it('gets no new version when only the order of its fields changed', async () => {
    await write('w', { name: 'one', steps: { a: { x: 1, y: 2 } } });

    expect(await write('w', { steps: { a: { y: 2, x: 1 } }, name: 'one' })).toEqual({ kind: 'unchanged', version: 1 });
    expect(await write('w', { steps: { a: { y: 2, x: 2 } }, name: 'one' })).toMatchObject({ version: 2 });
  });

  it('is written by one of many writers that read the same version', async () => {
    const outcomes = await Promise.all(Array.from({ length: 20 }, (_, i) => write('w', { i }, 0)));

    expect(outcomes.filter(({ kind }) => kind === 'written')).toHaveLength(1);
    expect(outcomes.filter(({ kind }) => kind === 'changed')).toHaveLength(19);
    expect(await write('w', { i: 'next' }, 1)).toMatchObject({ kind: 'written', version: 2 });
    expect(await write('w', { i: 'late' }, 1)).toEqual({ kind: 'changed', version: 2 });
  });

  it('cannot be read, written or removed by another tenant', async () => {
    await write('w', { name: 'one' });

    expect(await write('w', { name: 'two' }, undefined, 'rival')).toEqual({ kind: 'other_tenant' });
    expect(await workflows().get('rival', 'w')).toEqual({ kind: 'other_tenant' });
    expect(await workflows().version('rival', 'w', 1)).toEqual({ kind: 'other_tenant' });
    expect(await workflows().versions('rival', 'w', 10)).toEqual([]);
    expect(await workflows().remove('rival', 'w', 60)).toEqual({ kind: 'other_tenant' });
    expect(await workflows().get('*', 'w')).toMatchObject({ kind: 'found' });
  });

  it('is listed for its tenant, last updated first', async () => {
    await write('w', { name: 'one' });
    await write('theirs', {}, undefined, 'rival');
    await write('cargo', { name: 'two' });

    expect((await workflows().list('acme', 10)).map(({ id }) => id)).toEqual(['cargo', 'w', 'other']);
    expect((await workflows().list('acme', 1)).map(({ id }) => id)).toEqual(['cargo']);
  });
});

describe('removing a workflow', () => {
  it('leaves no keys when it never had a run', async () => {
    await write('w', {});

    expect(await remove('w')).toEqual({ kind: 'removed' });
    expect(await remove('w')).toEqual({ kind: 'missing' });
    expect(await use.redis.exists(keys.workflow('w'))).toBe(0);
    expect((await workflows().list('acme', 10)).map(({ id }) => id)).not.toContain('w');
  });

  it('can be refused while runs have not ended', async () => {
    await use.begin('r1');

    expect(await remove('cargo', 'idle')).toEqual({ kind: 'busy', runs: 1 });
    await use.end('r1');
    expect(await remove('cargo', 'idle')).toEqual({ kind: 'removed' });
  });

  it('leaves its versions readable until the last run that may use them expires', async () => {
    await use.begin('r1');
    await use.begin('r2');

    await remove('cargo');
    expect(await workflows().get('acme', 'cargo')).toEqual({ kind: 'missing' });
    expect(await workflows().version('acme', 'cargo', 1)).toMatchObject({ kind: 'found' });
    expect(await use.create('r3')).toEqual({ kind: 'no_workflow' });

    await use.end('r1');
    expect(await use.redis.ttl(keys.workflow('cargo'))).toBe(-1);
    await use.end('r2');
    expect(await use.redis.ttl(keys.workflow('cargo'))).toBeGreaterThan(runRetention - 60);
  });

  it('sets the expiry itself when all its runs have ended', async () => {
    await use.begin('r1');
    await use.end('r1');

    await remove('cargo');

    expect(await use.redis.ttl(keys.workflow('cargo'))).toBeGreaterThan(runRetention - 60);
  });

  it('does not restart version numbers for a new workflow with the same name', async () => {
    await use.begin('r1');
    await use.end('r1');
    await remove('cargo');

    expect(await write('cargo', { id: 'cargo' }, 0)).toMatchObject({ kind: 'written', version: 2 });

    expect(await workflows().version('acme', 'cargo', 1)).toMatchObject({ kind: 'found' });
    expect(await use.redis.ttl(keys.workflow('cargo'))).toBe(-1);
  });
});
