import { limits } from '@svc/contract';
import type { Kernel, OutputCheckRequest, OutputVerdict } from '@svc/kernel-client';
import { withTimeout } from '@svc/runtime';
import { inOriginal, redact } from '@svc/scanning';
import type { ResultJob } from '@svc/store';
import { createHash } from 'node:crypto';
import type { OutputSafetyDeps } from './output-safety-deps';
import type { ResultFacts, StoredBody } from './result-body';

type Finding = OutputVerdict['findings'][number];

export interface BodyVerdict extends OutputVerdict {
  scanned_bytes: number;
  /** The body is larger than the part that was scanned. */
  truncated: boolean;
}

const severity = { ALLOW: 0, REDACT: 1, QUARANTINE: 2 } as const;
const maxCopies = 3;
const copyScanTimeoutMs = 30_000;

/** Builds the output policy request of a result; without `output_content` it asks about metadata only. */
export const buildOutputRequest = (job: ResultJob, result: ResultFacts, sizeBytes: number): OutputCheckRequest => ({
  job_id: job.id,
  topic: job.topic,
  tenant: job.tenant,
  labels: job.request.labels,
  result_ptr: result.result_ptr,
  artifact_ptrs: [...result.artifact_ptrs],
  error_message: result.error_message,
  error_code: result.error_code,
  worker_id: result.worker_id,
  execution_ms: result.execution_ms,
  output_size_bytes: sizeBytes,
  capabilities: job.request.capability ? [job.request.capability] : [],
  risk_tags: job.request.risk_tags,
  principal_id: job.request.principal_id,
  pack_id: job.request.pack_id ?? '',
});

/** The kernel, with a metric for each of its verdicts. */
export function measured({ kernel, clock, events }: OutputSafetyDeps): Pick<Kernel, 'checkOutput'> {
  return {
    async checkOutput(request: OutputCheckRequest) {
      const startedUs = clock.nowUs();
      const verdict = await kernel.checkOutput(request);
      events.outputEvaluated(request.topic, verdict.decision, (clock.nowUs() - startedUs) / 1_000);
      return verdict;
    },
  };
}

/**
 * Asks output policy about a body, in windows when it is long. Windows overlap, so that no match is lost at a boundary. The
 * strictest verdict applies, and a quarantine ends the scan. See docs/reference/policy.md#output-policy.
 */
export async function scanBody(
  kernel: Pick<Kernel, 'checkOutput'>,
  request: OutputCheckRequest,
  { body, sizeBytes }: StoredBody,
): Promise<BodyVerdict> {
  const step = limits.scanBytes - limits.scanOverlapBytes;
  let strictest: OutputVerdict | undefined;
  const findings = new Map<string, Finding>();
  let scannedBytes = 0;
  for (let from = 0; strictest?.decision !== 'QUARANTINE' && (from === 0 || scannedBytes < body.length); from += step) {
    const window = body.subarray(from, from + limits.scanBytes);
    const verdict = await kernel.checkOutput({ ...request, output_size_bytes: sizeBytes, output_content: window });
    scannedBytes = from + window.length;
    for (const finding of verdict.findings) {
      // The kernel sees one window; whether the body was truncated is known only here.
      if (finding.type === 'content_truncated') continue;
      const placed = finding.offset === undefined ? finding : { ...finding, offset: finding.offset + from };
      findings.set(JSON.stringify([placed.type, placed.matched_pattern, placed.offset, placed.length]), placed);
    }
    if (!strictest || severity[verdict.decision] > severity[strictest.decision]) strictest = verdict;
  }
  if (!strictest) throw new Error('a body has at least one window');
  const truncated = scannedBytes < sizeBytes && strictest.decision !== 'QUARANTINE';
  return {
    ...strictest,
    findings: [...findings.values(), ...(truncated ? [buildFinding('content_truncated', 'low')] : [])],
    scanned_bytes: scannedBytes,
    truncated,
  };
}

/** A finding about the scan itself, without a position in the body. */
export const buildFinding = (type: string, severity: Finding['severity']) =>
  ({ type, severity, confidence: 1, detail: '', scanner: '', matched_pattern: '' }) as Finding;

export interface RedactedCopy {
  pointer: string;
  /** Everything that was removed, by every pass, with offsets and lengths in the original body. */
  findings: OutputVerdict['findings'];
}

/**
 * Stores a copy of the body without its findings. Each copy is scanned before it is used: a removal can expose another
 * match, which is then removed too. See docs/reference/policy.md#output-policy.
 *
 * @param verdict REDACT, for the whole body
 * @returns undefined when no copy is clean
 */
export async function writeRedacted(
  deps: OutputSafetyDeps,
  { job, result }: { job: ResultJob; result: ResultFacts },
  body: Buffer,
  verdict: OutputVerdict,
): Promise<RedactedCopy | undefined> {
  const sizeBytes = body.length;
  const request = buildOutputRequest(job, result, sizeBytes);
  const removed = [...verdict.findings];
  const passes: { body: Buffer; findings: OutputVerdict['findings'] }[] = [];
  let [clean, found]: [Buffer, OutputVerdict] = [body, verdict];
  for (let copies = 0; copies < maxCopies; copies++) {
    passes.push({ body: clean, findings: found.findings });
    clean = Buffer.from(redact(clean, found.findings));
    const scan = scanBody(measured(deps), request, { body: clean, sizeBytes });
    const again = await withTimeout(scan, copyScanTimeoutMs).catch(() => undefined);
    // The original has findings, so a copy that could not be scanned is not released in any fail mode.
    if (!again || again.findings.some(({ type }) => type === 'scan_skipped')) return undefined;
    // Later rules may match a copy; the rule that redacts has precedence, and it alone decides.
    if (again.rule_id !== verdict.rule_id || again.decision === 'ALLOW') {
      const hash = createHash('sha256').update(clean).digest('hex');
      return { pointer: await deps.store.data.writeRedacted(job.id, hash, clean), findings: removed };
    }
    if (again.decision === 'QUARANTINE') return undefined;
    found = again;
    const located = again.findings.filter(({ length }) => length !== undefined);
    removed.push(...passes.reduceRight((all, pass) => inOriginal(pass.body, pass.findings, all), located));
  }
  return undefined;
}
