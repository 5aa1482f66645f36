import { Abort } from './abort';
import { Ledger, ledgerKey, type Running } from './ledger';

const run = (jobId: string, dispatchId = 'd', attempt = 1): Running => {
  const identity = { jobId, dispatchId, attempt };
  return { kind: 'running', key: ledgerKey(identity), identity, receipts: [], abort: new Abort(), isShared: false };
};

describe('the ledger', () => {
  it('keeps dispatches apart whose ids join to the same text', () => {
    const keys = [run('a', 'bc'), run('ab', 'c'), run('a', 'bc', 2), run('1:a', ''), run('', '1:a')];

    expect(new Set(keys.map(({ key }) => key)).size).toBe(keys.length);
  });

  it('finds a finished dispatch for ten minutes, and drops it some time later', () => {
    const ledger = new Ledger<string>();
    const first = run('first');
    ledger.begin(first);
    ledger.finish(first, 'result', 0);

    expect([...ledger.running()]).toEqual([]);
    for (let n = 0; n < 600; n++) ledger.finish(run(`early-${n}`), '', 599_000);
    expect(ledger.find(first.key)).toMatchObject({ kind: 'finished', result: 'result' });
    for (let n = 0; n < 600; n++) ledger.finish(run(`late-${n}`), '', 600_000);
    expect(ledger.find(first.key)).toBeUndefined();
  });

  it('remembers the latest 10,000 results, and not many more', () => {
    const ledger = new Ledger<number>();
    const runs = Array.from({ length: 25_000 }, (_, n) => run(`j-${n}`));
    runs.forEach((one, n) => ledger.finish(one, n, 0));

    const known = runs.filter(({ key }) => ledger.find(key));
    expect(known.slice(-10_000)).toEqual(runs.slice(-10_000));
    expect(known.length).toBeLessThan(11_000);
  });
});
