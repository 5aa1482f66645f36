import type { ContentFinding } from '../evaluate/content';
import { buildPolicy } from '../policy.testing';
import { evaluateOutput } from './evaluate-output';
import type { FindOutput, OutputRequest } from './output-request';

const on = (rules: string, more = '') => buildPolicy(`output_policy: {enabled: true${more}}\noutput_rules:\n${rules}`);
const rule = (id: string, decision: string, match: string, more = '') =>
  `  - {id: ${id}, decision: ${decision}, match: ${match}${more}}\n`;
const secret = rule('secret', 'quarantine', '{scanners: [secret]}');
const pii = rule('pii', 'redact', '{topics: ["job.p*"], scanners: [pii]}');
const big = rule('big', 'deny', '{output_size_gt: 100}');
const request = (more: Partial<OutputRequest> = {}): OutputRequest => ({ phase: 'content', topic: 'job.a', ...more });
const metadata = (more: Partial<OutputRequest> = {}) => request({ phase: 'metadata', ...more });

/** A body in which each of these scanners, types or patterns finds something. */
const body = (...has: string[]): FindOutput => {
  return ({ scanners, detectors, patterns }) => {
    const asked = [...scanners, ...detectors, ...patterns.map(({ source }) => source)];
    const findings = asked
      .filter((name) => has.includes(name))
      .map((type): ContentFinding => ({ type, severity: 'high', offset: 2, length: 3 }));
    return { kind: 'scanned', findings };
  };
};
const short = ({ decision, rule_id }: ReturnType<typeof evaluateOutput>) => [decision, rule_id];

describe('output rules, content phase', () => {
  it('the first enabled rule in document order wins, with its findings; no match releases', () => {
    const off = rule('off', 'quarantine', '{scanners: [secret]}', ', enabled: false');
    const policy = on(off + rule('trusted', 'allow', '{tenants: [t]}') + secret + pii);

    expect(short(evaluateOutput(policy, request(), body('secret')))).toEqual(['QUARANTINE', 'secret']);
    expect(short(evaluateOutput(policy, request({ tenant: 'T' }), body('secret')))).toEqual(['ALLOW', 'trusted']);
    expect(evaluateOutput(policy, request({ topic: 'job.p' }), body('pii'))).toMatchObject({
      decision: 'REDACT',
      rule_id: 'pii',
      policy_snapshot: policy.snapshot,
      findings: [{ type: 'pii', offset: 2, length: 3 }],
    });
    expect(short(evaluateOutput(policy, request(), body('pii')))).toEqual(['ALLOW', '']);
  });

  it.each<[string, Partial<OutputRequest>, string]>([
    ['{capabilities: ["cargo.*"]}', { capabilities: ['x', 'Cargo.Lift'] }, 'QUARANTINE'],
    ['{tenants: [acme]}', { tenant: 'ACME' }, 'QUARANTINE'],
    ['{tenants: [acme]}', { tenant: 'bolt' }, 'ALLOW'],
    ['{topics: ["job.*"]}', { topic: 'job.z' }, 'QUARANTINE'],
    ['{topics: ["job.x*"]}', { topic: 'job.z' }, 'ALLOW'],
    ['{tenants: [acme], risk_tags: [hot]}', { tenant: 'acme' }, 'ALLOW'],
    ['{risk_tags: [hot]}', { risk_tags: ['HOT'] }, 'QUARANTINE'],
    ['{risk_tags: [hot]}', {}, 'ALLOW'],
    ['{has_error: true}', { error_code: 'E1' }, 'QUARANTINE'],
    ['{has_error: true}', { error_message: '' }, 'ALLOW'],
    ['{has_error: false}', { error_message: 'x' }, 'ALLOW'],
    ['{max_output_bytes: 10}', { output_size_bytes: 11 }, 'QUARANTINE'],
    ['{output_size_gt: 10}', { output_size_bytes: 10 }, 'ALLOW'],
    ['{detectors: [secret_leak]}', {}, 'QUARANTINE'],
    ['{content_patterns: ["k.y"]}', {}, 'QUARANTINE'],
    ['{output_size_gt: 10, detectors: [secret_leak]}', { output_size_bytes: 9 }, 'ALLOW'],
    ['{output_size_gt: 10, scanners: [pii]}', { output_size_bytes: 11 }, 'ALLOW'],
  ])('%s of %j: %s', (match, more, expected) => {
    expect(evaluateOutput(on(rule('r', 'deny', match)), request(more), body('secret_leak', 'k.y')).decision).toBe(
      expected,
    );
  });

  it('is disabled by default, and can be enabled per topic', () => {
    const overrides =
      ', topic_overrides: [{topic_pattern: "job.a*", enabled: false}, {topic_pattern: "job.*", scanners: [pii]}]';
    const policy = on(secret + rule('any', 'quarantine', '{detectors: [pii, secret_leak]}'), overrides);

    expect(evaluateOutput(buildPolicy(`output_rules:\n${secret}`), request(), body('secret')).decision).toBe('ALLOW');
    const here = 'output_policy: {enabled: false, topic_overrides: [{topic_pattern: "job.a*", enabled: true}]}';
    const onlyHere = buildPolicy(`${here}\noutput_rules:\n${secret}`);
    expect(evaluateOutput(onlyHere, request(), body('secret')).decision).toBe('QUARANTINE');
    expect(evaluateOutput(onlyHere, request({ topic: 'job.b' }), body('secret')).decision).toBe('ALLOW');
    expect(evaluateOutput(policy, request(), body('secret')).decision).toBe('ALLOW');
    expect(evaluateOutput(policy, request({ topic: 'job.b' }), body('secret', 'secret_leak')).decision).toBe('ALLOW');
    expect(short(evaluateOutput(policy, request({ topic: 'job.b' }), body('pii')))).toEqual(['QUARANTINE', 'any']);
  });

  describe('topic overrides of several documents', () => {
    const overridden = (...lists: string[]) =>
      buildPolicy(
        Object.fromEntries(
          lists.map((list, i) => [
            `secops/${i}`,
            i === 0
              ? `output_policy: {enabled: true, topic_overrides: [${list}]}\noutput_rules:\n${secret}`
              : `output_policy: {topic_overrides: [${list}]}`,
          ]),
        ),
      );
    const decided = (policy: ReturnType<typeof buildPolicy>, topic = 'job.a.b', find = body('secret')) =>
      evaluateOutput(policy, request({ topic }), find).decision;
    const fault: FindOutput = () => ({ kind: 'fault' });

    it('are all in effect; the other settings come from the first document', () => {
      const policy = overridden(
        '',
        '{topic_pattern: job.a.*, enabled: false}',
        '{topic_pattern: job.b, enabled: false}',
      );

      expect(['job.a.b', 'job.b', 'job.c'].map((topic) => decided(policy, topic))).toEqual([
        'ALLOW',
        'ALLOW',
        'QUARANTINE',
      ]);
    });

    it('a narrower pattern wins over a wider one, in any order', () => {
      const off = '{topic_pattern: job.a.*, enabled: false}';
      const on = '{topic_pattern: job.*, enabled: true}';

      expect([decided(overridden(off, on)), decided(overridden(on, off))]).toEqual(['ALLOW', 'ALLOW']);
      expect(decided(overridden('{topic_pattern: job.a.b, enabled: true}', off))).toBe('QUARANTINE');
      expect(decided(overridden(off, '{topic_pattern: "*.a.b?", enabled: true}'), 'job.a.bb')).toBe('ALLOW');
    });

    it('among equally narrow ones the later document wins, per setting', () => {
      const policy = overridden(
        '{topic_pattern: job.a.*, enabled: true, fail_mode: open}',
        '{topic_pattern: job.a.*, scanners: [secret]}',
        '{topic_pattern: job.a.*, fail_mode: closed}',
      );

      expect(decided(policy)).toBe('QUARANTINE');
      expect(decided(policy, 'job.a.b', fault)).toBe('QUARANTINE');
      const turned = overridden('{topic_pattern: job.a.b, enabled: true}', '{topic_pattern: job.a.b, enabled: false}');
      expect(decided(turned)).toBe('ALLOW');
    });

    it('within a document the first match wins, as a whole', () => {
      const policy = overridden('{topic_pattern: job.*, fail_mode: closed}, {topic_pattern: job.a.b, enabled: false}');

      expect(decided(policy)).toBe('QUARANTINE');
    });

    it('change the snapshot', () => {
      const [one, other] = ['enabled: false', 'enabled: true'].map((set) =>
        overridden('', `{topic_pattern: job.a, ${set}}`),
      );

      expect(one?.snapshot).not.toBe(other?.snapshot);
    });
  });

  it('a failing scanner withholds in mode closed, and is skipped in mode open', () => {
    const fault: FindOutput = () => ({ kind: 'fault' });
    const throws: FindOutput = () => {
      throw new Error('lost');
    };
    const errors: unknown[] = [];

    expect(short(evaluateOutput(on(secret), request(), fault))).toEqual(['QUARANTINE', 'secret']);
    expect(short(evaluateOutput(on(secret), request()))).toEqual(['QUARANTINE', 'secret']);
    expect(short(evaluateOutput(on(secret), request(), throws, (e) => errors.push(e)))).toEqual([
      'QUARANTINE',
      'secret',
    ]);
    expect(errors).toEqual([new Error('lost')]);
    expect(
      short(evaluateOutput(on(secret + big, ', fail_mode: open'), request({ output_size_bytes: 101 }), fault)),
    ).toEqual(['QUARANTINE', 'big']);
    const override = (mode: string) => `, topic_overrides: [{topic_pattern: job.a, fail_mode: ${mode}}]`;
    expect(evaluateOutput(on(secret, override('open')), request(), fault)).toMatchObject({
      decision: 'ALLOW',
      findings: [{ type: 'scan_skipped' }],
    });
    const closed = on(secret, `, fail_mode: open${override('closed')}`);
    expect(short(evaluateOutput(closed, request(), fault))).toEqual(['QUARANTINE', 'secret']);
    expect(evaluateOutput(closed, request({ topic: 'job.b' }), fault).decision).toBe('ALLOW');
  });

  it('an unreadable result is withheld; a truncated one is reported as such', () => {
    const cut: FindOutput = () => ({ kind: 'scanned', findings: [], truncated: true });

    expect(evaluateOutput(on(secret), request(), () => ({ kind: 'unreadable' }))).toMatchObject({
      decision: 'QUARANTINE',
      rule_id: '',
      findings: [{ type: 'pointer_unreadable', severity: 'high' }],
    });
    expect(evaluateOutput(on(secret), request(), cut)).toMatchObject({
      decision: 'ALLOW',
      findings: [{ type: 'content_truncated', severity: 'low' }],
    });
  });

  it('withholds without a policy', () => {
    expect(evaluateOutput(undefined, request()).decision).toBe('QUARANTINE');
  });
});

describe('output rules, metadata phase', () => {
  /** What the content phase looks for, rule by rule. */
  const lookedFor = (policy: ReturnType<typeof on>, asked: OutputRequest) => {
    const scanners: string[] = [];
    evaluateOutput(policy, asked, (needs) => {
      scanners.push(...needs.scanners);
      return { kind: 'scanned', findings: [] };
    });
    return scanners;
  };

  it('releases for now and requires the body', () => {
    const policy = on(secret + pii + big);
    const answer = evaluateOutput(policy, metadata({ topic: 'job.p' }));

    expect(answer).toMatchObject({ decision: 'ALLOW', contentPhaseNeeded: true });
    expect(lookedFor(policy, request({ topic: 'job.p' }))).toEqual(['secret', 'pii']);
  });

  it('needs no body when no rule for this topic scans it', () => {
    expect(evaluateOutput(on(pii + big), metadata()).contentPhaseNeeded).toBe(false);
    const overridden = on(secret, ', topic_overrides: [{topic_pattern: "*", scanners: [pii]}]');
    expect(evaluateOutput(overridden, metadata())).toMatchObject({ decision: 'ALLOW', contentPhaseNeeded: false });
    expect(lookedFor(overridden, request())).toEqual([]);
  });

  it('withholds at once when a later rule matches by size alone', () => {
    const answer = evaluateOutput(on(secret + big), metadata({ output_size_bytes: 101 }));

    expect(answer).toMatchObject({ decision: 'QUARANTINE', rule_id: 'big', contentPhaseNeeded: false });
  });

  it('a later permission is not final while an earlier rule waits for the body', () => {
    const permitting = rule('fine', 'allow', '{}');

    expect(evaluateOutput(on(secret + permitting), metadata())).toMatchObject({
      decision: 'ALLOW',
      contentPhaseNeeded: true,
    });
    expect(evaluateOutput(on(permitting + secret), metadata())).toMatchObject({
      rule_id: 'fine',
      contentPhaseNeeded: false,
    });
  });
});
