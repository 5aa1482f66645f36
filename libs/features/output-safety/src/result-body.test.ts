import { limits } from '@svc/contract';
import type { StoredBody } from './result-body';
import { ResultBody } from './result-body';

const pointer = 'redis://res:j1';

/** A body over a store that keeps these versions: each read takes the next, and the last stays. */
function readVersions(...versions: (string | null)[]) {
  const reads: number[] = [];
  const read = (_pointer: string, maxBytes: number): Promise<StoredBody | null> => {
    reads.push(maxBytes);
    const text = versions.length > 1 ? versions.shift() : versions[0];
    if (text === null || text === undefined) return Promise.resolve(null);
    return Promise.resolve({ body: Buffer.from(text).subarray(0, maxBytes), sizeBytes: text.length });
  };
  return { reads, at: (pointer: string) => new ResultBody({ read }, 'j1', pointer) };
}

describe('the body of a result', () => {
  it('is read once when it is small', async () => {
    const { reads, at } = readVersions('small');
    const body = at(pointer);
    body.prefetch();

    expect(await body.head()).toMatchObject({ sizeBytes: 5, hasBody: true, body: Buffer.from('small') });
    expect((await body.readForScan()).body.toString()).toBe('small');
    expect((await body.read(2))?.body.toString()).toBe('sm');
    expect(reads).toHaveLength(1);
  });

  it('is read again for a scan when only its head was read', async () => {
    const { reads, at } = readVersions('x'.repeat(100_000));
    const body = at(pointer);

    expect(await body.head()).toEqual({ sizeBytes: 100_000, hasBody: true });
    expect((await body.readForScan()).body).toHaveLength(100_000);
    expect((await body.readForScan()).body).toHaveLength(100_000);
    expect(reads).toEqual([64 * 1_024, limits.scanMostBytes]);
  });

  it('may become visible after the report', async () => {
    const { reads, at } = readVersions(null, null, 'late');
    const body = at(pointer);

    expect(await body.head()).toEqual({ sizeBytes: 0, hasBody: true });
    expect((await body.readForScan()).body.toString()).toBe('late');
    expect(reads).toHaveLength(3);
  });

  it('is not read from another job or an external store', async () => {
    const { reads, at } = readVersions('secret');

    expect(await at('redis://res:j2').head()).toEqual({ sizeBytes: 0, hasBody: false });
    expect(await at('s3://bucket/key').head()).toEqual({ sizeBytes: 0, hasBody: true });
    expect(await at('').head()).toEqual({ sizeBytes: 0, hasBody: false });
    expect(reads).toEqual([]);
  });

  it('reports a failed prefetch to the check that needs it', async () => {
    const body = new ResultBody({ read: () => Promise.reject(new Error('down')) }, 'j1', pointer);
    body.prefetch();

    await expect(body.head()).rejects.toThrow('down');
  });
});
