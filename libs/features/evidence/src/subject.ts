import { readTime } from '@svc/audit';
import { AppError, type EvidenceBody } from '@svc/contract';
import type { LoadedRun, JobRecord, Store } from '@svc/store';
import { isRunEnded, isTerminal } from '@svc/lifecycle';

/** The subject of a bundle, with its record if it is still kept. Times in ms; undefined = not known. */
export interface Subject {
  kind: EvidenceBody['kind'];
  id: string;
  tenant: string;
  job?: JobRecord;
  run?: LoadedRun;
  fromMs: number | undefined;
  toMs: number | undefined;
}

export interface SubjectDeps {
  store: Pick<Store, 'jobs' | 'runs'>;
  clock: { nowMs(): number };
}

/** What follows the end of a job or run, such as its review, is usually recorded within this time. */
const AFTER_END_MS = 3_600_000;
const DEFAULT_SPAN_MS = 24 * 3_600_000;

const toMs = (us: number): number => Math.floor(us / 1_000);

/**
 * Finds the record of the subject and the time to search. A record of another tenant counts as none: the chain of the tenant
 * has no events about it.
 *
 * @throws audit_from_invalid, audit_to_invalid, audit_range_invalid
 */
export async function findSubject(deps: SubjectDeps, tenant: string, body: EvidenceBody): Promise<Subject> {
  const { kind, id } = body;
  const [from, to] = [readBound(body.from, 'audit_from_invalid'), readBound(body.to, 'audit_to_invalid')];
  if (from !== undefined && to !== undefined && from > to) throw new AppError('audit_range_invalid');
  const subject = { kind, id, tenant };
  const bounds = (first: number | undefined, last: number | undefined) => ({ fromMs: from ?? first, toMs: to ?? last });
  switch (kind) {
    case 'job': {
      const found = await deps.store.jobs.get(tenant, id);
      if (found.kind !== 'found') return { ...subject, ...bounds(undefined, undefined) };
      const { job } = found;
      const last = isTerminal(job.state) ? toMs(job.updated_at) + AFTER_END_MS : undefined;
      return { ...subject, job, ...bounds(toMs(job.created_at), last) };
    }
    case 'run': {
      const found = await deps.store.runs.get(tenant, id);
      if (found.kind !== 'found') return { ...subject, ...bounds(undefined, undefined) };
      const { run } = found.value;
      const last = isRunEnded(run.status) ? toMs(run.updated_at) + AFTER_END_MS : undefined;
      return { ...subject, run: found.value, ...bounds(toMs(run.created_at), last) };
    }
    case 'agent':
    case 'session':
      return { ...subject, ...bounds((to ?? deps.clock.nowMs()) - DEFAULT_SPAN_MS, undefined) };
  }
}

function readBound(text: string | undefined, code: 'audit_from_invalid' | 'audit_to_invalid'): number | undefined {
  if (!text) return undefined;
  const ms = readTime(text);
  if (ms === undefined || ms < 0) throw new AppError(code);
  return Math.floor(ms);
}
