import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { threadEntry, type ThreadEntry } from '../thread-entry';
import { ScanPool } from './scan-pool';
import type { ScanQuestion } from './scan-messages';

const needs = { scanners: ['secret'], detectors: [], patterns: [], keywords: ['nightfall'] };
const asking = (text: string): ScanQuestion => ({ texts: [Buffer.from(text)], needs: [needs], maxBytes: 100_000 });

describe('scan threads', () => {
  const folder = mkdtempSync(join(tmpdir(), 'scan-pool-'));
  /** A thread that never ends on `hang`, breaks on `break`, and else answers with its own id. */
  const tricky: ThreadEntry = { file: join(folder, 'tricky.cjs'), execArgv: [] };
  let pool: ScanPool;
  const open = (entry: ThreadEntry, limitMs: number, over = {}) => {
    pool = new ScanPool({ text: undefined }, { threads: 1, limitMs, maxWaiting: 8, ...over }, entry);
    return pool;
  };

  beforeAll(() =>
    writeFileSync(
      tricky.file,
      `const { parentPort, threadId } = require('node:worker_threads');
       parentPort.on('message', ({ texts }) => {
         const text = Buffer.from(texts[0]).toString();
         while (text === 'hang');
         if (text === 'break') throw new Error('broke');
         parentPort.postMessage([[{ findings: [{ type: String(threadId), severity: 'low' }], truncated: false }]]);
       });`,
    ),
  );
  afterEach(() => pool.close());
  afterAll(() => rmSync(folder, { recursive: true }));

  it('return the findings of an in-process scan, per need', async () => {
    open(threadEntry(), 20_000);

    const [[found] = [], [none] = []] = await pool.scan({
      ...asking('at nightfall'),
      needs: [needs, { ...needs, keywords: ['dawn'] }],
    });

    expect(found).toMatchObject({ findings: [{ type: 'keyword_match', offset: 3, length: 9 }], truncated: false });
    expect(none?.findings).toEqual([]);
  });

  it('a scan that exceeds its timeout is terminated, and the next one gets a new thread', async () => {
    open(tricky, 300);
    const before = await pool.scan(asking('x'));

    const hanging = pool.scan(asking('hang'));
    const waiting = pool.scan(asking('x'));

    await expect(hanging).rejects.toThrow('did not end within 300 ms');
    expect(getFindingType(await waiting)).not.toBe(getFindingType(before));
  });

  it('a crashed thread fails its own request only', async () => {
    open(tricky, 5_000);

    const broken = pool.scan(asking('break'));
    const waiting = pool.scan(asking('x'));

    await expect(broken).rejects.toThrow('broke');
    expect(getFindingType(await waiting)).toBeDefined();
  });

  it('a thread serves one request after the other', async () => {
    open(tricky, 5_000);

    const answers = await Promise.all(['a', 'b', 'c'].map((text) => pool.scan(asking(text))));

    expect(new Set(answers.map(getFindingType)).size).toBe(1);
  });

  it('requests over the queue limit are rejected, and closing rejects the rest', async () => {
    open(tricky, 60_000, { maxWaiting: 1 });
    const hanging = pool.scan(asking('hang'));
    const waiting = pool.scan(asking('x'));

    await expect(pool.scan(asking('x'))).rejects.toThrow('too many scans wait');
    await Promise.all([
      expect(hanging).rejects.toThrow('ended'),
      expect(waiting).rejects.toThrow('stopped'),
      pool.close(),
    ]);
    await expect(pool.scan(asking('x'))).rejects.toThrow('stopped');
  });
});

const getFindingType = (answer: Awaited<ReturnType<ScanPool['scan']>>) => answer[0]?.[0]?.findings[0]?.type;
