import { buildEntries, entryKey, readEntries, tidy } from './registration';

describe('entries of the topic registry', () => {
  it('are named by their key, whatever name they contain', () => {
    const key = entryKey({ name: 'job.a', tenant_id: 'acme' });

    const { entries } = readEntries({ [key]: { name: 'job.b', tenant_id: 'globex', pool: 'main' } });

    expect(entries).toEqual([
      { name: 'job.a', tenant_id: 'acme', pool: 'main', requires: [], risk_tags: [], status: 'active' },
    ]);
    expect(entryKey({ name: 'job.a' })).toBe('job.a');
  });

  it.each([[null], ['active'], [{ status: 'closed' }], [{ status: 7 }]])('%j is left out and reported', (entry) => {
    expect(readEntries({ 'job.a': entry, 'job.b': {} })).toMatchObject({
      entries: [{ name: 'job.b' }],
      faults: ['job.a'],
    });
  });

  it('keep their texts and omit the empty ones', () => {
    const [entry] = readEntries({
      'job.a': { input_schema_id: 'a/In', output_schema_id: '', requires: ['x', 1] },
    }).entries;

    expect(entry).toMatchObject({ input_schema_id: 'a/In', requires: ['x'] });
    expect(entry).not.toHaveProperty('output_schema_id');
  });

  it('are made from the pools file: the first pool and its requirements', () => {
    const gpu = { name: 'gpu', requires: ['gpu'], status: 'active' as const, description: '' };

    expect(buildEntries({ topics: { 'job.a': ['gpu', 'spare'] }, pools: { gpu } })).toEqual({
      'job.a': { name: 'job.a', pool: 'gpu', requires: ['gpu'], risk_tags: [], status: 'active' },
    });
  });

  it('have lists that are trimmed, deduplicated and sorted', () => {
    expect(tidy([' b', 'a', 'b ', ' '])).toEqual(['a', 'b']);
  });
});
