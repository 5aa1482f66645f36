import type { AuditFact } from '@svc/contract';
import { canonicalJson } from '@svc/json';
import fc from 'fast-check';
import { createHash, createHmac, createSecretKey, generateKeyPairSync } from 'node:crypto';
import {
  canonicalText,
  ChainVerifier,
  emptyHead,
  headText,
  isSigned,
  parseHead,
  readOutbox,
  sealFacts,
  signCheckpoint,
} from './index';

const fact = (over: Partial<AuditFact> = {}): AuditFact => ({
  tenant_id: 'acme',
  timestamp: '2026-11-23T08:00:00.000000Z',
  event_type: 'job.transition',
  action: 'job.dispatch',
  severity: 'INFO',
  ...over,
});
const buildChain = (count: number) =>
  sealFacts(
    Array.from({ length: count }, (_, i) => fact({ reason: `event ${i + 1}` })),
    emptyHead,
  );
const verify = (
  events: readonly { text: string; hash: string; hmac: string }[],
  options = {},
  head = chainHead(events),
) => {
  const run = new ChainVerifier({ before: emptyHead, ...options });
  for (const event of events) run.add(event);
  return run.finish(head);
};
const chainHead = (events: readonly { text: string; hash: string }[]) => {
  const last = events.at(-1);
  return last ? { seq: Number(/"seq":(\d+)/.exec(last.text)?.[1]), hash: last.hash } : emptyHead;
};

describe('an event', () => {
  it('is hashed as its canonical JSON without empty fields', () => {
    const texts = fc.string();
    const list = fc.array(texts, { maxLength: 3 });
    const record = fc.record({
      action: texts, identity: texts, agent_id: texts, agent_name: texts, agent_risk_tier: texts, job_id: texts, decision: texts,
      matched_rule: texts, reason: texts, policy_version: texts, risk_tags: list, capabilities: list,
      extra: fc.dictionary(texts.filter((key) => key !== '__proto__'), texts),
    }, { requiredKeys: ['action'] }); // prettier-ignore

    fc.assert(
      fc.property(record, (some) => {
        const whole = { ...fact(some as Partial<AuditFact>), seq: 7, prev_hash: 'a'.repeat(64) };
        const filled = Object.entries({
          ...whole,
          extra: Object.fromEntries(Object.entries(whole.extra ?? {}).filter(([, value]) => value !== '')),
        }).filter(
          ([key, value]) =>
            key === 'action' ||
            (value !== '' && Object.keys(value as object).length !== 0) ||
            typeof value === 'number',
        );

        expect(canonicalText(fact(some as Partial<AuditFact>), 7, 'a'.repeat(64))).toBe(
          canonicalJson(Object.fromEntries(filled)),
        );
      }),
    );
  });

  it('names the hash of the one before it', () => {
    const [first, second] = buildChain(2);

    expect(JSON.parse(second?.text ?? '')).toMatchObject({ seq: 2, prev_hash: first?.hash });
    expect(JSON.parse(first?.text ?? '')).not.toHaveProperty('prev_hash');
    expect(second?.hash).toBe(
      createHash('sha256')
        .update(second?.text ?? '')
        .digest('hex'),
    );
  });

  it('has an HMAC of the same bytes where there is a key', () => {
    const key = createSecretKey(Buffer.from('k'.repeat(32)));
    const [event] = sealFacts([fact()], emptyHead, key);

    expect(event?.hmac).toBe(
      createHmac('sha256', 'k'.repeat(32))
        .update(event?.text ?? '')
        .digest('hex'),
    );
  });
});

describe('the head', () => {
  it.each([[emptyHead], [{ seq: 12, hash: 'b'.repeat(64) }]])('is read as it was written: %j', (head) => {
    expect(parseHead(headText(head))).toEqual(head);
  });

  it.each(['1', '1:abc', `x:${'a'.repeat(64)}`])('%s is none', (text) => {
    expect(parseHead(text)).toBeUndefined();
  });
});

describe('the verification of a chain', () => {
  it('accepts what was sealed', () => {
    expect(verify(buildChain(5))).toMatchObject({
      status: 'ok',
      total: 5,
      verified: 5,
      gaps: [],
      firstSeq: 1,
      lastSeq: 5,
    });
  });

  it('accepts an empty chain', () => {
    expect(verify([])).toMatchObject({ status: 'ok', total: 0, firstSeq: 0, lastSeq: 0 });
  });

  const events = buildChain(6);
  const edited = events.map((event) =>
    event.seq === 3 ? { ...event, text: event.text.replace('event 3', 'event X') } : event,
  );
  const rehashed = edited.map((event) =>
    event.seq === 3 ? { ...event, hash: createHash('sha256').update(event.text).digest('hex') } : event,
  );
  const swapped = [0, 1, 3, 2, 4, 5].flatMap((i) => events[i] ?? []);
  const forged = sealFacts(
    Array.from({ length: 6 }, (_, i) => fact({ reason: `forged ${i}` })),
    emptyHead,
  );
  const witnesses = [{ seq: 4, hash: events[3]?.hash ?? '', type: 'anchor' as const }];

  it.each([
    ['an event was edited', edited, {}, chainHead(events), 3, 'hash_mismatch'],
    ['an event was edited and hashed again', rehashed, {}, chainHead(events), 4, 'hash_mismatch'],
    ['an event was removed', events.filter(({ seq }) => seq !== 4), {}, chainHead(events), 4, 'missing'],
    ['events were swapped', swapped, {}, chainHead(events), 3, 'missing'],
    ['the tail was cut', events.slice(0, 4), {}, chainHead(events), 5, 'head'],
    ['an event was added without the head', events, {}, chainHead(events.slice(0, 5)), 6, 'head'],
    ['the chain was written again', forged, { witnesses }, chainHead(forged), 4, 'anchor'],
    [
      'the tail was cut, and the head with it',
      events.slice(0, 3),
      { witnesses },
      chainHead(events.slice(0, 3)),
      4,
      'anchor',
    ],
    ['everything was removed', [], { witnesses }, emptyHead, 1, 'anchor'],
  ])('finds where %s', (_, changed, options, head, at_seq, type) => {
    const report = verify(changed, options, head);

    expect(report.status).toBe('compromised');
    expect(report.gaps[0]).toEqual({ at_seq, type });
  });

  it('finds an HMAC of another key', () => {
    const [key, other] = ['a', 'b'].map((c) => createSecretKey(Buffer.from(c.repeat(32))));
    const sealed = sealFacts([fact(), fact()], emptyHead, key);

    expect(verify(sealed, { hmacKey: key })).toMatchObject({ status: 'ok', hmacVerified: 2, hmacSeen: 2 });
    expect(verify(sealed, { hmacKey: other }).gaps[0]).toEqual({ at_seq: 1, type: 'hmac_mismatch' });
    expect(verify(sealed)).toMatchObject({ status: 'partial', hmacSkipped: 2 });
  });

  it('begins at the boundary of retention', () => {
    const run = new ChainVerifier({ before: { seq: 2, hash: events[1]?.hash ?? '' } });
    for (const event of events.slice(2)) run.add(event);

    expect(run.finish(chainHead(events), 2)).toMatchObject({
      status: 'partial',
      verified: 4,
      gaps: [{ at_seq: 2, type: 'retention_trimmed' }],
    });
  });
});

describe('a checkpoint', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const checkpoint = {
    installation: 'i1',
    tenant_id: 'acme',
    seq: 4,
    event_hash: 'a'.repeat(64),
    merkle_root: 'b'.repeat(64),
    at: '2026-11-23T08:00:00.000Z',
  };
  const signed = signCheckpoint(checkpoint, privateKey);

  it('is signed by its key only, as a whole', () => {
    expect(isSigned(signed, [publicKey])).toBe(true);
    expect(isSigned(signed, [generateKeyPairSync('ed25519').publicKey])).toBe(false);
    expect(isSigned({ ...signed, seq: 5 }, [publicKey])).toBe(false);
    expect(isSigned({ ...signed, tenant_id: 'globex' }, [publicKey])).toBe(false);
  });
});

describe('a line of the outbox', () => {
  const request = { principal_id: 'ann', labels: { agent_id: 'agent-1' }, risk_tags: ['write'], capability: 'mail' };
  const decision = { decision: 'DENY', rule_id: 'r1', reason: 'no', policy_snapshot: 'p1' };
  const line = (...columns: string[]) => columns.join('\t');

  it('of a decided job becomes a decision with its submitter and agent', () => {
    const columns = [
      'j1',
      'submit',
      '',
      'PENDING',
      'job.mail',
      'run-1',
      '0',
      '',
      '',
      JSON.stringify(decision),
      '',
      JSON.stringify(request),
      'apikey:1',
      'h1',
    ];

    expect(readOutbox(line('job', 'acme', '1763884800000001', ...columns))).toEqual([
      {
        tenant_id: 'acme', timestamp: '2025-11-23T08:00:00.000001Z', event_type: 'safety.decision', action: 'job.submit', severity: 'HIGH',
        job_id: 'j1', decision: 'DENY', matched_rule: 'r1', policy_version: 'p1', reason: 'no', agent_id: 'agent-1', identity: 'ann',
        risk_tags: ['write'], capabilities: ['mail'], extra: { to: 'PENDING', topic: 'job.mail', run_id: 'run-1', job_hash: 'h1' },
      }, // prettier-ignore
    ]);
  });

  it('of an approved job names who approved it', () => {
    const approval = JSON.stringify({
      status: 'approved',
      resolved_by: 'bob',
      resolved_role: 'operator',
      reason: 'fine',
    });
    const [fact] = readOutbox(
      line('job', 'acme', '1', 'j1', 'release', 'APPROVAL_REQUIRED', 'PENDING', 't', '', '0', '', '', '', approval),
    );

    expect(fact).toMatchObject({
      event_type: 'job.transition',
      identity: 'bob',
      reason: 'fine',
      extra: { approval: 'approved', role: 'operator' },
    });
  });

  it('of a withheld result is a violation', () => {
    const [fact] = readOutbox(
      line('job', 'acme', '1', 'j1', 'quarantine', 'RUNNING', 'OUTPUT_QUARANTINED', 't', '', '1', 'w1', '', '', ''),
    );

    expect(fact).toMatchObject({
      event_type: 'safety.violation',
      severity: 'HIGH',
      extra: { attempt: '1', worker_id: 'w1' },
    });
  });

  it('of a run names its status', () => {
    const [fact] = readOutbox(line('run', 'acme', '1', 'r1', 'etl', 'running', 'failed'));

    expect(fact).toMatchObject({
      event_type: 'run.transition',
      action: 'run.failed',
      extra: { run_id: 'r1', workflow_id: 'etl', from: 'running' },
    });
  });

  it('of an act is the act, whose tenant and time its writer cannot choose', () => {
    const act = { ...fact({ tenant_id: 'globex', timestamp: 'never' }), action: 'pool.drain' };

    expect(readOutbox(line('act', 'acme', '1000000', JSON.stringify(act)))).toEqual([
      { ...act, tenant_id: 'acme', timestamp: '1970-01-01T00:00:01.000000Z' },
    ]);
  });

  it('of an act has the hash of the content that it replaced', () => {
    const act = { ...fact(), extra: { after_hash: 'a' } };

    const [read] = readOutbox(line('act', 'acme', '1000000', JSON.stringify(act), 'b'));
    expect(read?.extra).toEqual({ after_hash: 'a', before_hash: 'b' });
  });

  it('of another kind is refused', () => {
    expect(() => readOutbox('x\ty')).toThrow('a line of kind x');
  });
});
