import { openAudit } from '@svc/audit';
import { headText, leafHash, sealFacts, sha256, emptyHead, type SealedEvent } from '@svc/audit-chain';
import type { AuditFact } from '@svc/contract';
import { auditMetrics, openMetrics, silentLogger, systemClock } from '@svc/runtime';
import { keys } from '@svc/store';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verifyArchive } from 'svc-verify';
import { useApi } from '../../api.testing';
import { parseJson, readCheckpoint, type EvidenceReport } from '@svc/evidence-format';
import { auditKeys, evidenceClient } from './evidence.testing';

const dir = mkdtempSync(join(tmpdir(), 'svc-drill-'));
const anchorFile = join(dir, 'anchors');
afterAll(() => rmSync(dir, { recursive: true }));

const api = useApi({ env: { ...auditKeys.env, SVC_AUDIT_ANCHOR_FILE: anchorFile } });
const evidence = evidenceClient(api);

interface Entry {
  id: string;
  text: string;
  hash: string;
}

const chain = async (): Promise<Entry[]> => api.store.audit.range('acme', '-', '+', 1_000);

/** Replaces the chain as a client of Redis that has no keys would. */
async function rewrite(entries: readonly Entry[], { movesHead = true } = {}): Promise<void> {
  const { redis } = api.store;
  await redis.del(keys.auditChain('acme'));
  for (const { id, text, hash } of entries) await redis.xadd(keys.auditChain('acme'), id, 'e', text, 'h', hash);
  const last = entries.at(-1);
  if (movesHead && last)
    await redis.set(keys.auditHead('acme'), headText({ seq: Number(last.id.split('-')[1]), hash: last.hash }));
}

const toFact = (entry: Entry | undefined): AuditFact => {
  const { seq: _seq, prev_hash: _previous, ...fact } = JSON.parse(entry?.text ?? '') as AuditFact & { seq: number; prev_hash?: string };
  return fact;
}; // prettier-ignore

/** Ids of a chain that was written again: the times stay. */
const place = (events: readonly SealedEvent[], before: readonly Entry[]): Entry[] =>
  events.map(({ seq, text, hash }, i) => ({ id: `${before[i]?.id.split('-')[0] ?? ''}-${seq}`, text, hash }));

/** What the engine does at every anchor interval. */
async function anchor(): Promise<void> {
  const env = {
    auditHmacKey: undefined,
    auditSigningKey: auditKeys.env.SVC_AUDIT_SIGNING_KEY,
    auditSigningKeyPath: undefined,
    auditPublicKeys: {},
    auditAnchorFile: anchorFile,
    auditAnchorIntervalMs: 60_000,
    auditChainFail: 'closed' as const,
    auditRetention: undefined,
    defaultTenant: 'acme',
  };
  const { metrics } = openMetrics(auditMetrics, { pod: 'p' });
  const license = { entitlements: () => ({ audit_retention_days: -1 }) };
  const audit = await openAudit({ env, clock: systemClock(), log: silentLogger, onStop: () => undefined }, {
    store: api.store,
    license,
    metrics,
  } as unknown as Parameters<typeof openAudit>[1]);
  for (const { run } of audit.loops('drill')) await run();
}

/** A chain with jobs, anchored after each of them; the job is the second of three, and its events follow each other. */
async function givenChain(): Promise<{ job: string; events: Entry[]; own: number[] }> {
  rmSync(anchorFile, { force: true });
  let job = '';
  for (const i of [1, 2, 3]) {
    const id = await api.given.job({ state: 'SUCCEEDED' });
    if (i === 2) job = id;
    await anchor();
  }
  const events = await chain();
  const own = events.flatMap(({ text }, i) => (text.includes(job) ? [i + 1] : []));
  return { job, events, own };
}

const readAnchors = () =>
  readFileSync(anchorFile, 'utf8')
    .split('\n')
    .flatMap((line) => readCheckpoint(parseJson(line)) ?? []);

/** What both verifiers find. */
async function detect(job: string): Promise<{ service: { status: unknown; seqs: number[] }; offline: EvidenceReport }> {
  const { body } = await api.as('admin').get('/api/v1/audit/verify');
  const { archive } = await evidence.get({ kind: 'job', id: job });
  return {
    service: { status: body['status'], seqs: (body['gaps'] as { at_seq: number }[]).map(({ at_seq }) => at_seq) },
    offline: await verifyArchive(archive, { keys: [auditKeys.publicKey], anchors: readAnchors() }),
  };
}

interface Drill {
  events: Entry[];
  /** Sequence numbers of the events of the job; the third is the one that is attacked. */
  own: number[];
  target: number;
}

const attacks: Record<string, { run(drill: Drill): Promise<void>; named(drill: Drill): { service: number; offline: number } }> = {
  'an event is edited': {
    run: ({ events, target }) =>
      rewrite(events.map((event, i) => (i === target - 1 ? { ...event, text: event.text.replace('SUCCEEDED', 'CANCELLED').replace('RUNNING', 'STARTED') } : event))),
    named: ({ target }) => ({ service: target, offline: target }),
  },
  'an event is edited, and its hash computed again': {
    run: ({ events, target }) =>
      rewrite(events.map((event, i) => {
        const text = event.text.replace('RUNNING', 'STARTED');
        return i === target - 1 ? { ...event, text, hash: sha256(text) } : event;
      })),
    // The chain breaks at the link of the next event; the proof shows which event it was.
    named: ({ target }) => ({ service: target + 1, offline: target }),
  },
  'an event is deleted from the middle': {
    run: ({ events, target }) => rewrite(events.filter((_, i) => i !== target - 1)),
    named: ({ target }) => ({ service: target, offline: target }),
  },
  'the tail is cut, and the head set back': {
    run: ({ events, own }) => rewrite(events.slice(0, own.at(-1))),
    named: ({ own }) => ({ service: (own.at(-1) ?? 0) + 1, offline: (own.at(-1) ?? 0) + 1 }),
  },
  'the tail is cut, and the head left': {
    run: ({ events, own }) => rewrite(events.slice(0, own.at(-1)), { movesHead: false }),
    named: ({ own }) => ({ service: (own.at(-1) ?? 0) + 1, offline: (own.at(-1) ?? 0) + 1 }),
  },
  'the tail is cut, with the head and all checkpoints after it': {
    async run({ events, own }) {
      await rewrite(events.slice(0, own.at(-1)));
      await api.store.redis.zremrangebyscore(keys.auditCheckpoints('acme'), (own.at(-1) ?? 0) + 1, '+inf');
    },
    named: ({ own }) => ({ service: (own.at(-1) ?? 0) + 1, offline: (own.at(-1) ?? 0) + 1 }),
  },
  'two events are swapped': {
    run: ({ events, target }) =>
      rewrite(events.map((event, i) => {
        const other = i === target - 1 ? events[target] : i === target ? events[target - 1] : undefined;
        return other ? { ...other, id: event.id } : event;
      })),
    named: ({ target }) => ({ service: target, offline: target }),
  },
  'the whole chain is written again, with its tree, and the checkpoints removed': {
    async run({ events, target }) {
      const facts = events.map((event, i) => ({ ...toFact(event), ...(i === target - 1 && { reason: 'as agreed' }) }));
      const again = sealFacts(facts, emptyHead);
      await rewrite(place(again, events));
      await api.store.redis.set(keys.auditLeaves('acme', '0'), Buffer.concat(again.map(({ hash }) => leafHash(hash))));
      await api.store.redis.del(keys.auditCheckpoints('acme'));
    },
    // The first anchor after the change: no event before it can be named.
    named: ({ own }) => ({ service: own.at(-1) ?? 0, offline: own.at(-1) ?? 0 }),
  },
  'two writers append to the same event': {
    async run({ events, target }) {
      const previous = events[target - 2];
      const [second] = sealFacts([{ ...toFact(events[target - 1]), reason: 'other' }], { seq: target - 1, hash: previous?.hash ?? '' });
      const ms = Number(events.at(-1)?.id.split('-')[0]) + 1;
      await rewrite([...events, { id: `${ms}-${target}`, text: second?.text ?? '', hash: second?.hash ?? '' }], { movesHead: false });
    },
    named: ({ target }) => ({ service: target, offline: target }),
  },
}; // prettier-ignore

describe('the tamper drill', () => {
  beforeEach(() => api.license('enterprise'));

  it('finds nothing in an unchanged chain', async () => {
    const { job } = await givenChain();

    const { service, offline } = await detect(job);
    expect(service).toEqual({ status: 'ok', seqs: [] });
    expect(offline).toMatchObject({ isVerified: true, faults: [], warnings: [] });
    expect(offline.checks.find(({ name }) => name === 'anchors')).toMatchObject({ result: 'passed', detail: expect.stringMatching(/^3 anchors/) });
  }); // prettier-ignore

  it.each(Object.entries(attacks))('%s: both verifiers name the event', async (_name, { run, named }) => {
    const { job, events, own } = await givenChain();
    const target = own[2] ?? 0;
    const drill = { events, own, target };

    await run(drill);
    const { service, offline } = await detect(job);
    const expected = named(drill);
    expect(service.status).toBe('compromised');
    expect(service.seqs[0]).toBe(expected.service);
    expect(offline.isVerified).toBe(false);
    expect(offline.faults.find(({ seq }) => seq !== undefined)?.seq).toBe(expected.offline);
  });
});
