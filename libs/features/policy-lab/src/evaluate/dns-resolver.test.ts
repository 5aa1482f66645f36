import { startNameServer, type NameAnswer, type NameServer } from '@svc/testing';
import { openResolver, type Resolve } from './dns-resolver';

const answers: Readonly<Record<string, NameAnswer>> = { 'a.example': ['93.184.216.34'], 'broken.example': 2 };

describe('names resolved for action checks', () => {
  let server: NameServer;
  let nowMs = 0;
  let resolve: Resolve;
  beforeEach(async () => {
    server = await startNameServer((name) => answers[name] ?? 3);
    nowMs = 0;
    resolve = openResolver(() => nowMs, [server.address]);
  });
  afterEach(() => server.close());

  it('resolve to addresses, to absent, or to unknown', async () => {
    expect(await resolve('a.example')).toEqual({ kind: 'addresses', addresses: ['93.184.216.34'] });
    expect(await resolve('none.example')).toEqual({ kind: 'no_address' });
    expect(await resolve('broken.example')).toEqual({ kind: 'failed' });
  });

  it('are resolved once in 5 min, failures again at once', async () => {
    await resolve('a.example');
    await resolve('a.example');
    expect(server.asked).toHaveLength(2);

    nowMs = 300_000;
    await resolve('a.example');
    expect(server.asked).toHaveLength(4);

    await resolve('broken.example');
    const before = server.asked.length;
    await resolve('broken.example');
    expect(server.asked.length).toBeGreaterThan(before);
  });

  it('evict the oldest beyond 2048', async () => {
    for (let i = 0; i < 2_049; i++) await resolve(`n${i}.example`);
    const before = server.asked.length;

    await resolve('n2048.example');
    expect(server.asked).toHaveLength(before);
    await resolve('n0.example');
    expect(server.asked).toHaveLength(before + 2);
  });
});
