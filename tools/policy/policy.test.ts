import { standardScanners } from '@svc/kernel-client';
import { execFile } from 'node:child_process';
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseCases } from './cases';
import { readOptions, Unusable } from './options';
import { readPolicy } from './read-policy';
import { runCases, uncovered } from './run-cases';

jest.setTimeout(60_000);

let dir = '';
const file = (name: string, text: string): string => {
  const path = join(dir, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
  return path;
};
const problems = async (act: () => unknown): Promise<readonly string[]> => {
  try {
    await act();
  } catch (error) {
    if (error instanceof Unusable) return error.problems;
    throw error;
  }
  return [];
};
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'policy-cli-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const harbour = `
version: '2'
default_decision: deny
rules:
  - {id: big, match: {topics: [job.refund], metadata: {amount_gt: 10}}, decision: require_approval, reason: a person}
  - {id: pace, match: {topics: [job.refund]}, velocity: {max_requests: 2, window_seconds: 60, key: tenant}, decision: throttle, throttle_duration: 5s}
  - {id: boxed, match: {topics: [job.refund]}, decision: allow_with_constraints, constraints: {budgets: {max_retries: 1}}}
output_policy: {enabled: true}
output_rules:
  - {id: keys, severity: high, match: {scanners: [secret]}, decision: quarantine}
input_rules:
  - {id: leaked, severity: high, match: {keywords: [password]}, decision: deny}
`;

describe('overrides of workflows among the bundles', () => {
  it('tighten, or extend when the option allows it', async () => {
    const base = file('p.yaml', "version: '1'\ndefault_decision: deny\n");
    const text = 'tier: workflow\nselector: {workflow_id: w}\nrules: [{id: o, decision: allow}]\n';
    file('bundles/workflow/w/policy.yaml', text);
    const cases = parseCases(
      'cases: [{name: a, request: {topic: job.a, tenant: t, workflow_id: w}, expect: {decision: allow}}]',
      'c.yaml',
    );
    const faults = async (...args: string[]) => {
      const { overrides } = readOptions(['check', base, ...args]) ?? {};
      const policy = await readPolicy(base, join(dir, 'bundles'), overrides);
      return (await runCases(policy, standardScanners(), cases)).flatMap((outcome) => outcome.faults);
    };

    expect(await faults()).toEqual([expect.stringContaining('decision')]);
    expect(await faults('--overrides', 'tighten')).toEqual([expect.stringContaining('decision')]);
    expect(await faults('--overrides', 'extend')).toEqual([]);
    expect(await problems(() => readOptions(['check', base, '--overrides', 'loosen']))).toHaveLength(1);
  });
});

describe('cases of a policy', () => {
  const run = async (cases: string) =>
    runCases(
      await readPolicy(file('p.yaml', harbour), undefined),
      standardScanners(),
      parseCases(`cases:\n${cases}`, 'c.yaml'),
    );
  const refund = 'request: {topic: job.refund, tenant: t';

  it('pass when the decisions match', async () => {
    const outcomes = await run(`
  - {name: a, ${refund}, content: {amount: 11}}, expect: {decision: require_approval, rule: big, reason: person}}
  - {name: b, ${refund}}, counts: {pace: 3}, expect: {decision: throttle, rule: pace}}
  - {name: c, ${refund}}, counts: {pace: 2}, expect: {decision: allow_with_constraints, constraints: {budgets: {max_retries: 1}}}}
  - {name: d, ${refund}, content: my password is nine}, expect: {decision: deny, rule: leaked, findings: [keyword_match]}}
  - {name: e, output: {topic: job.refund, body: key AKIAIOSFODNN7EXAMPLE}, expect: {decision: quarantine, findings: [secret_leak]}}
  - {name: f, output: {topic: job.refund, body: {all: well}}, expect: {decision: allow, rule: ''}}
`);

    expect(outcomes.map(({ name, faults }) => [name, faults])).toEqual(
      ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => [name, []]),
    );
  });

  it('fail with each difference by name', async () => {
    const outcomes = await run(`
  - {name: a, ${refund}}, expect: {decision: deny, rule: big, reason: never, constraints: {budgets: {max_retries: 2}}, remediations: [x], findings: [pii]}}
  - {name: b, output: {topic: job.refund, body: nothing}, expect: {decision: redact, rule: keys, findings: [pii]}}
`);

    expect(outcomes[0]?.faults.map((fault) => fault.split(' ')[0])).toEqual([
      'decision', 'rule', 'reason', 'constraints', 'remediations', 'findings',
    ]); // prettier-ignore
    expect(outcomes[1]?.faults.map((fault) => fault.split(' ')[0])).toEqual(['decision', 'rule', 'findings']);
  });

  it('list the rules that no case covers', async () => {
    const policy = await readPolicy(file('p.yaml', harbour), undefined);
    const outcomes = await run(`
  - {name: a, ${refund}, content: {amount: 11}}, expect: {decision: allow}}
`);

    expect(uncovered(policy, outcomes)).toEqual({ all: 5, ids: ['pace', 'boxed', 'leaked', 'keys'] });
  });

  it.each([
    ['an unknown key', '- {name: a, request: {topic: t, tenent: x}, expect: {decision: allow}}', 'c.yaml:2'],
    ['no decision', '- {name: a, request: {topic: t}, expect: {rule: x}}', 'cases.0.expect.decision'],
    ['an unknown decision', '- {name: a, output: {topic: t}, expect: {decision: allow_all}}', 'must be one of'],
    ['two of one name', '- &a {name: a, request: {topic: t}, expect: {decision: allow}}\n- *a', 'duplicate'],
    ['none at all', '  []', 'at least 1'],
    ['invalid YAML', '{', 'c.yaml:'],
  ])('are rejected with their line: %s', async (_, text, why) => {
    const found = await problems(() => parseCases(`cases:\n${text}`, 'c.yaml'));

    expect(found.join('\n')).toContain(why);
  });
});

describe('a policy of several files', () => {
  const rule = (id: string, decision: string) =>
    `rules:\n  - {id: ${id}, match: {topics: [job.a]}, decision: ${decision}}\n`;

  it('merges the file and its bundles by id', async () => {
    file('b/secops/invariants.yaml', rule('never', 'deny'));
    file('b/secops/more.yml', rule('more', 'allow'));
    file('b/notes.txt', 'not a policy');
    const policy = await readPolicy(file('p.yaml', rule('first', 'allow')), join(dir, 'b'));

    const [outcome] = await runCases(policy, standardScanners(), [
      { name: 'x', request: { topic: 'job.a' }, expect: { decision: 'deny' } },
    ]);

    expect(outcome).toMatchObject({ rule: 'never', faults: [] });
    expect(policy.rules.map(({ source }) => source.replace(dir, ''))).toEqual([
      '/p.yaml',
      'secops/invariants',
      'secops/more',
    ]);
  });

  it('is rejected with all errors of all files', async () => {
    file('b/secops/x.yaml', 'rules: [{id: x, decision: allow, colour: red}]');

    const found = await problems(() => readPolicy(file('p.yaml', 'rulez: []'), join(dir, 'b')));

    expect(found).toEqual([expect.stringContaining('p.yaml:1:1 '), expect.stringContaining('secops/x:1:')]);
    expect(await problems(() => readPolicy(join(dir, 'gone.yaml'), undefined))).toEqual([
      expect.stringContaining('gone.yaml'),
    ]);
    expect(await problems(() => readPolicy(file('q.yaml', 'rules: []'), join(dir, 'gone')))).toEqual([
      expect.stringContaining('gone'),
    ]);
  });
});

describe('the command line', () => {
  it.each([
    [[], 'the command must be one of'],
    [['publish', 'a'], 'the command must be one of'],
    [['check'], 'takes 1 file'],
    [['test', 'a'], '--cases'],
    [['test', 'a', '--cases', 'b', '--min-coverage', '101'], '--min-coverage'],
    [['check', 'a', '--fast'], '--fast'],
    [['diff', 'a'], 'takes 2 files'],
    [['diff', 'a', 'b', '--since', 'long'], '--since'],
    [['diff', 'a', 'b', '--max-looser', '-1'], '--max-looser'],
    [['export', 'a', '--most', 'all'], '--most'],
  ])('refuses %j', async (args, why) => {
    expect((await problems(() => readOptions(args))).join()).toContain(why);
  });

  const policy = (...args: string[]) =>
    new Promise<{ code: number; out: string; err: string }>((resolve) => {
      const child = execFile('node', ['tools/run-ts.mjs', 'tools/policy/main.ts', ...args], (_, out, err) =>
        resolve({ code: child.exitCode ?? -1, out, err }),
      );
    });

  it('the shipped policy passes its cases, which cover nearly all rules', async () => {
    const { code, out } = await policy(
      'test',
      'config/safety.yaml',
      '--cases',
      'config/safety.cases.yaml',
      '--min-coverage',
      '90',
    );

    expect([code, out.includes('FAILED')]).toEqual([0, false]);
  });

  it('exits 1 for a failed case or insufficient coverage, with only JSON on standard output; 2 for an invalid file', async () => {
    const good = file('p.yaml', 'rules: [{id: a, match: {topics: [job.a]}, decision: allow}, {id: b, decision: deny}]');
    const cases = file('c.yaml', 'cases: [{name: x, request: {topic: job.a}, expect: {decision: allow}}]');
    const wrong = file('w.yaml', 'cases: [{name: x, request: {topic: job.a}, expect: {decision: deny}}]');

    const [covered, failed, bad] = await Promise.all([
      policy('test', good, '--cases', cases, '--min-coverage', '51', '--json'),
      policy('test', good, '--cases', wrong, '--json'),
      policy('check', file('bad.yaml', 'rules: 7')),
    ]);

    expect([covered.code, JSON.parse(covered.out)]).toMatchObject([
      1,
      { ok: false, failed: 0, coverage: 50, uncovered: ['b'] },
    ]);
    expect([failed.code, JSON.parse(failed.out)]).toMatchObject([1, { ok: false, failed: 1 }]);
    expect([bad.code, bad.out, bad.err]).toEqual([2, '', expect.stringContaining('bad.yaml:1:')]);
  });
});
