import { Abort } from './abort';
import { Ledger, ledgerKey, type Running } from './ledger';

const run = (jobId: string, dispatchId = 'd', attempt = 1): Running => {
  const identity = { jobId, dispatchId, attempt };
  return { kind: 'running', key: ledgerKey(identity), identity, receipts: [], abort: new Abort(), isShared: false };
};

interface Stored {
  bytes: Uint8Array;
}
const empty = { bytes: new Uint8Array() };

describe('the ledger', () => {
  it('keeps dispatches apart whose ids join to the same text', () => {
    const keys = [run('a', 'bc'), run('ab', 'c'), run('a', 'bc', 2), run('1:a', ''), run('', '1:a')];

    expect(new Set(keys.map(({ key }) => key)).size).toBe(keys.length);
  });

  it('finds a finished dispatch for ten minutes, and drops it some time later', () => {
    const ledger = new Ledger<Stored>();
    const first = run('first');
    ledger.begin(first);
    const result = { bytes: Buffer.from('result') };
    ledger.finish(first, result, 0);

    expect([...ledger.running()]).toEqual([]);
    for (let n = 0; n < 600; n++) ledger.finish(run(`early-${n}`), empty, 599_000);
    expect(ledger.find(first.key)).toMatchObject({ kind: 'finished', result });
    for (let n = 0; n < 600; n++) ledger.finish(run(`late-${n}`), empty, 600_000);
    expect(ledger.find(first.key)).toBeUndefined();
  });

  it('remembers the latest 10,000 results, and not many more', () => {
    const ledger = new Ledger<Stored>();
    const runs = Array.from({ length: 25_000 }, (_, n) => run(`j-${n}`));
    for (const one of runs) ledger.finish(one, empty, 0);

    const known = runs.filter(({ key }) => ledger.find(key));
    expect(known.slice(-10_000)).toEqual(runs.slice(-10_000));
    expect(known.length).toBeLessThan(11_000);
  });

  it('has a limit for the size of its results, which evicted ones no longer count for', () => {
    const ledger = new Ledger<Stored>();
    const bytes = new Uint8Array(1024 * 1024);
    for (let n = 0; n < 31; n++) ledger.finish(run(`large-${n}`), { bytes }, 0);

    expect([ledger.hasRoomFor(bytes.length), ledger.hasRoomFor(bytes.length + 1)]).toEqual([true, false]);
    for (let n = 0; n < 1_000; n++) ledger.finish(run(`later-${n}`), empty, 600_000);
    expect(ledger.hasRoomFor(32 * bytes.length)).toBe(true);
  });
});
