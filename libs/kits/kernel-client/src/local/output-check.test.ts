import { mergePolicies, parsePolicy, type Policy } from '@svc/policy';
import { redact } from '@svc/scanning';
import type { OutputCheckRequest } from '../kernel';
import { standardScanners } from '../scan/scanners';
import { threadEntry } from '../thread-entry';
import { checkOutput } from './output-check';
import { Scanner } from './scanner';

const parsePolicyText = (text: string): Policy => {
  const parsed = parsePolicy(text, { source: 'test', mode: 'load' });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return mergePolicies([parsed.document]);
};
const rules = (text: string, failMode = 'closed') =>
  parsePolicyText(`output_policy: {enabled: true, fail_mode: ${failMode}}\noutput_rules:\n${text}`);
const secrets = rules('  - {id: keys, decision: quarantine, match: {content_patterns: ["KEY-[0-9]{4}"]}}');
const redacting = rules('  - {id: words, decision: redact, match: {content_patterns: ["secret [a-z]+"]}}');

const output = (body: string | Buffer | undefined, over: Partial<OutputCheckRequest> = {}): OutputCheckRequest => ({
  job_id: 'j1',
  topic: 'job.a',
  tenant: 'acme',
  labels: {},
  result_ptr: 'redis://res:j1',
  artifact_ptrs: [],
  error_message: '',
  error_code: '',
  worker_id: 'w',
  execution_ms: 1,
  output_size_bytes: body?.length ?? 1,
  capabilities: [],
  risk_tags: [],
  principal_id: '',
  pack_id: '',
  ...(body !== undefined && { output_content: Buffer.from(body) }),
  ...over,
});

describe('the output check', () => {
  const scanner = new Scanner(standardScanners(), { threads: 1, limitMs: 20_000 }, threadEntry(), () =>
    performance.now(),
  );
  const faults: unknown[] = [];
  const deps = {
    scan: (question: Parameters<Scanner['ofOutput']>[0]) => scanner.ofOutput(question),
    onError: (_what: string, error: unknown) => void faults.push(error),
  };
  afterAll(() => scanner.close());

  it('metadata phase: reports whether the body is needed', async () => {
    expect(await checkOutput(secrets, output(undefined), deps)).toMatchObject({
      decision: 'ALLOW',
      content_phase_needed: true,
    });
    const bySize = rules('  - {id: large, decision: deny, match: {output_size_gt: 10}}');
    expect(await checkOutput(bySize, output(undefined, { output_size_bytes: 11 }), deps)).toMatchObject({
      decision: 'QUARANTINE',
      rule_id: 'large',
      content_phase_needed: false,
    });
  });

  it('content phase: the first matching rule decides', async () => {
    const verdict = await checkOutput(secrets, output('here: KEY-1234'), deps);

    expect(verdict).toMatchObject({ decision: 'QUARANTINE', rule_id: 'keys', policy_snapshot: secrets.snapshot });
    expect(verdict.findings).toMatchObject([{ offset: 6, length: 8 }]);
    expect(await checkOutput(secrets, output('nothing here'), deps)).toMatchObject({ decision: 'ALLOW', rule_id: '' });
  });

  it('redact: findings cover the matching bytes of the body', async () => {
    const body = Buffer.from('tell no one: ümlaut, secret sauce, end');

    const verdict = await checkOutput(redacting, output(body), deps);

    expect(verdict.decision).toBe('REDACT');
    expect(Buffer.from(redact(body, verdict.findings)).toString()).toBe('tell no one: ümlaut, [REDACTED], end');
  });

  it('a finding in the error text cannot be redacted, so the result is withheld', async () => {
    const verdict = await checkOutput(redacting, output('clean', { error_message: 'my secret sauce' }), deps);

    expect(verdict).toMatchObject({ decision: 'QUARANTINE', rule_id: 'words' });
    expect(verdict.findings[0]).not.toHaveProperty('offset');
  });

  it('large bodies are scanned on a thread, and the process stays responsive', async () => {
    const body = Buffer.concat([Buffer.alloc(200_000, 'x '), Buffer.from('KEY-1234')]);
    let turns = 0;
    let turn = setImmediate(function again() {
      turns += 1;
      turn = setImmediate(again);
    });

    // One scan may finish before the loop turns; this many cannot.
    const verdicts = await Promise.all(Array.from({ length: 20 }, () => checkOutput(secrets, output(body), deps)));
    clearImmediate(turn);

    for (const { findings } of verdicts) expect(findings).toMatchObject([{ offset: 200_000 }]);
    expect(turns).toBeGreaterThan(0);
  });

  it('reports that only the first part was scanned', async () => {
    const verdict = await checkOutput(secrets, output('KEY', { output_size_bytes: 5_000_000 }), deps);

    expect(verdict).toMatchObject({ decision: 'ALLOW', findings: [{ type: 'content_truncated' }] });
  });

  it('a failed scan withholds, or releases in fail mode open', async () => {
    const broken = { ...deps, scan: () => Promise.reject(new Error('ended')) };
    const open = rules('  - {id: keys, decision: quarantine, match: {content_patterns: ["KEY"]}}', 'open');

    expect(await checkOutput(secrets, output('KEY-1234'), broken)).toMatchObject({ decision: 'QUARANTINE' });
    expect(await checkOutput(open, output('KEY-1234'), broken)).toMatchObject({ decision: 'ALLOW' });
    expect(faults).toHaveLength(2);
  });
});
