import type { OutputVerdict } from '@svc/kernel-client';
import { inOriginal, redact } from '@svc/scanning';
import { withTimeout } from '@svc/runtime';
import type { JobRecord } from '@svc/store';
import { createHash } from 'node:crypto';
import { checkBody } from './check-body';
import { measured, question, type ResultFacts } from './output-facts';
import type { OutputSafetyDeps } from './output-safety-deps';

const mostCopies = 3;
const lookTimeoutMs = 30_000;

export interface RedactedCopy {
  pointer: string;
  /** Everything that was cut out, by every pass, with offsets and lengths in the original body. */
  findings: OutputVerdict['findings'];
}

/**
 * Stores the body without what was found in it. The copy is looked at before it counts: what was cut out may have been
 * the excuse for something else, which is then found, and cut out too. See docs/reference/policy.md#output-policy.
 *
 * @param verdict REDACT, of all of the body
 * @returns undefined = no copy came out clean
 */
export async function writeRedacted(
  deps: OutputSafetyDeps,
  job: JobRecord,
  result: ResultFacts,
  body: Buffer,
  verdict: OutputVerdict,
): Promise<RedactedCopy | undefined> {
  const asked = question(job, result, body.length);
  const removed = [...verdict.findings];
  const passes: { body: Buffer; findings: OutputVerdict['findings'] }[] = [];
  let [clean, found]: [Buffer, OutputVerdict] = [body, verdict];
  for (let copies = 0; copies < mostCopies; copies++) {
    passes.push({ body: clean, findings: found.findings });
    clean = Buffer.from(redact(clean, found.findings));
    const again = await withTimeout(checkBody(measured(deps), asked, clean, body.length), lookTimeoutMs).catch(
      () => undefined,
    );
    // Something was found in the original: a copy that could not be looked at is not released, whatever the fail mode.
    if (!again || again.findings.some(({ type }) => type === 'scan_skipped')) return undefined;
    // A later rule may have something to say about a copy; the rule that redacts came first, and it alone decides.
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
