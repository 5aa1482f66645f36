import { limits } from '@svc/contract';
import type { OutputCheckRequest, OutputVerdict } from '@svc/kernel-client';
import { scanBody } from './scan-body';

const request = { job_id: 'j1', topic: 'job.default' } as OutputCheckRequest;
const allow = {
  decision: 'ALLOW',
  rule_id: '',
  reason: '',
  policy_snapshot: 's1',
  findings: [],
} as unknown as OutputVerdict;

/** Finds a text in each window, with this decision. */
function scan(body: Buffer, text: string, decision: OutputVerdict['decision'], sizeBytes = body.length) {
  const windows: number[] = [];
  const checkOutput = ({ output_content: window = Buffer.alloc(0) }: OutputCheckRequest): Promise<OutputVerdict> => {
    windows.push(window.length);
    const offset = window.indexOf(text);
    const finding = { type: 'secret', matched_pattern: 'p', offset, length: text.length };
    return Promise.resolve(offset < 0 ? allow : ({ ...allow, decision, findings: [finding] } as OutputVerdict));
  };
  return { windows, verdict: scanBody({ checkOutput }, request, { body, sizeBytes }) };
}

describe('scanning a body', () => {
  it('finds a match at a window boundary once, at its offset in the body', async () => {
    const body = Buffer.alloc(limits.scanBytes + 1_000, '.');
    const offset = limits.scanBytes - 10;
    body.write('KEY', offset);

    const { windows, verdict } = scan(body, 'KEY', 'REDACT');

    expect(await verdict).toMatchObject({ decision: 'REDACT', truncated: false, scanned_bytes: body.length });
    expect((await verdict).findings).toMatchObject([{ type: 'secret', offset }]);
    expect(windows).toHaveLength(2);
  });

  it('ends at the first quarantine', async () => {
    const { windows, verdict } = scan(Buffer.alloc(3 * limits.scanBytes, 'K'), 'K', 'QUARANTINE');

    expect(await verdict).toMatchObject({ decision: 'QUARANTINE', truncated: false });
    expect(windows).toHaveLength(1);
  });

  it('marks a body of which only a part was read', async () => {
    const { verdict } = scan(Buffer.from('part'), 'KEY', 'REDACT', 1_000);

    expect(await verdict).toMatchObject({ decision: 'ALLOW', truncated: true, scanned_bytes: 4 });
    expect((await verdict).findings).toMatchObject([{ type: 'content_truncated', severity: 'low' }]);
  });

  it('asks once about an empty body', async () => {
    const { windows, verdict } = scan(Buffer.alloc(0), 'KEY', 'REDACT');

    expect(await verdict).toMatchObject({ decision: 'ALLOW', truncated: false });
    expect(windows).toEqual([0]);
  });
});
