import { History, linearized, type Model } from '@svc/testing';
import { useApi } from './api.testing';
import type { HttpAnswer } from './caller.testing';
import { ban, bundleCalls } from './routes/policy/policy.testing';

const writers = 2;
const rounds = 200;

/** A document that contains a counter, with operations to read and conditionally write it. */
interface Counter {
  read(): Promise<{ count: number; version: unknown }>;
  write(count: number, version: unknown): Promise<HttpAnswer>;
  /** Revision counter of the store. */
  revision(): Promise<number>;
  /** Counter values in the recorded history, oldest first; as many as are kept. */
  recorded(): Promise<{ counts: number[]; kept: number }>;
}
type Input = 'read' | { from: number };
type Output = number | 'written' | 'stale';

/** Writes the read value plus one; stale exactly if another write came in between. */
const register: Model<number, Input, Output> = {
  begin: 0,
  step(count, input, output) {
    if (input === 'read') return output === count ? count : undefined;
    if (output === 'written') return count === input.from ? count + 1 : undefined;
    return count === input.from ? undefined : count;
  },
  key: String,
};

describe('two clients that write the same document 200 times each', () => {
  const api = useApi();
  const { put, get } = bundleCalls(api);
  const admin = () => api.as('admin');
  const countIn = (text: unknown) => Number(/n(\d+)/.exec(String(text))?.[1] ?? 0);
  const text = (count: number) => ban(`n${count}`, 'job.x');

  /** Notes of all policy changes, oldest first. */
  async function audited() {
    const { body } = await admin().get('/api/v1/policy/audit?limit=500&action=edit');
    return {
      counts: (body['items'] as { message: string }[]).map(({ message }) => countIn(message)).reverse(),
      kept: 500,
    };
  }
  /** The readable revisions of a document. */
  async function readRevisions(query: string, count: (data: HttpAnswer['body']) => number) {
    const kept = 20;
    const counts: number[] = [];
    const newest = 1 + writers * rounds;
    for (let revision = newest - kept + 1; revision <= newest; revision++) {
      counts.push(count((await admin().get(`/api/v1/config?${query}&revision=${revision}`)).body));
    }
    return { counts, kept };
  }
  const configDocument = (
    scope: string,
    scope_id: string,
    data: (count: number) => object,
    count: (data: object) => number,
  ): Counter => {
    const query = `scope=${scope}&scope_id=${scope_id}`;
    return {
      async read() {
        const { status, body } = await admin().get(`/api/v1/config?${query}&envelope=true`);
        return status === 404
          ? { count: 0, version: 0 }
          : { count: count(body['data'] as object), version: body['revision'] };
      },
      write: (next, revision) => admin().put('/api/v1/config', { scope, scope_id, data: data(next), revision }),
      revision: () => api.store.config.revision(scope, scope_id),
      recorded: () => readRevisions(query, count),
    };
  };

  const counters: [string, Counter][] = [
    ['a bundle', {
      async read() {
        const { status, body } = await get('secops~n');
        return status === 404 ? { count: 0, version: undefined } : { count: countIn(body['content']), version: body['sha256'] };
      },
      write: (count, expected_sha256) => put('secops~n', { content: text(count), message: `n${count}`, expected_sha256 }),
      revision: () => api.store.config.revision('system', 'policy'),
      recorded: audited,
    }],
    ['the global policy', {
      async read() {
        const { body } = await admin().get('/api/v1/policy/global');
        const { input_rules } = body['sections'] as Record<string, { content: string }>;
        return { count: countIn(input_rules?.content), version: body['snapshot_version'] };
      },
      write: (count, snapshot_version) =>
        admin().put('/api/v1/policy/global', { snapshot_version, message: `n${count}`, sections: { input_rules: { content: text(count) } } }),
      revision: () => api.store.config.revision('system', 'policy'),
      recorded: audited,
    }],
    ['a config document', configDocument('team', 'dock', (count) => ({ note: `n${count}` }), (data) => countIn(JSON.stringify(data)))],
    ['the pools', configDocument('system', 'default', (count) => ({ pools: { topics: {}, pools: { crane: { requires: [`n${count}`] } } } }), (data) => countIn(JSON.stringify(data)))],
  ]; // prettier-ignore

  it.each(counters)(
    '%s: no write is lost, each increments the counter, and stale writes are rejected',
    async (_, counter) => {
      // The rate limit of a Community license could refuse requests on a fast machine.
      api.license('enterprise');
      const history = new History<Input, Output>();
      // Not every route can require that the document does not exist yet.
      await counter.write(0, (await counter.read()).version);
      const first = await counter.revision();

      async function increment(): Promise<void> {
        for (;;) {
          let version: unknown;
          const count = await history.call('read', async () => {
            const read = await counter.read();
            version = read.version;
            return read.count;
          });
          const wrote = await history.call({ from: Number(count) }, async () => {
            const { status, body } = await counter.write(Number(count) + 1, version);
            if (status < 300) return 'written';
            expect([status, body['code']]).toEqual([409, expect.stringMatching(/_VERSION_CONFLICT$/)]);
            return 'stale';
          });
          if (wrote === 'written') return;
        }
      }
      await Promise.all(Array.from({ length: writers }, async () => {
      for (let round = 0; round < rounds; round++) await increment();
    })); // prettier-ignore

      expect((await counter.read()).count).toBe(writers * rounds);
      expect((await counter.revision()) - first).toBe(writers * rounds);
      const { counts, kept } = await counter.recorded();
      const all = Array.from({ length: writers * rounds }, (_, i) => i + 1);
      expect(counts.filter((count) => count > 0)).toEqual(all.slice(-kept));
      expect(linearized(history.operations, register)).toEqual({ ok: true });
      expect(history.operations.some(({ output }) => output === 'stale')).toBe(true);
    },
    60_000,
  );
});
