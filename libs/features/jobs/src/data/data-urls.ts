import {
  AppError,
  contextPointer,
  dataUrlEnv,
  type DataPurpose,
  type PutJobArtifactQuery,
  type StoredResultView,
} from '@svc/contract';
import type { DataGrant, DataTokens } from '@svc/identity';
import { isRecord } from '@svc/json';
import { inFlightStates } from '@svc/lifecycle';
import type { JobRecord } from '@svc/store';
import { createHash } from 'node:crypto';
import { type ArtifactDeps, storeArtifact } from './artifacts';

/** Time after the deadline in which a worker may still report; also covers clock skew. */
const GRACE_MS = 10 * 60_000;
/** Bounds the URLs of jobs without a deadline. In any case a URL is void once its dispatch ends. */
const MAX_LIFETIME_MS = 7 * 86_400_000;

export interface DataUrlSettings {
  tokens: DataTokens;
  /** Base URL of the gateway as workers reach it. */
  base: string;
}

type Dispatched = JobRecord & { worker_id: string; dispatch_id: string };

/** Latest time at which the credentials of a dispatch are valid, unix ms. */
export function dispatchEndsMs({ deadline_ms: deadlineMs }: Pick<JobRecord, 'deadline_ms'>, nowMs: number): number {
  const longestMs = nowMs + MAX_LIFETIME_MS;
  return deadlineMs > 0 ? Math.min(longestMs, deadlineMs + GRACE_MS) : longestMs;
}

/** The data URLs of a dispatch, as its env; empty when the installation has none. See ADR 14. @param effectOnly for workers with access to the store */
export function dataUrlsFor(
  settings: DataUrlSettings | undefined,
  job: Dispatched,
  nowMs: number,
  { effectOnly = false }: { effectOnly?: boolean } = {},
): Record<string, string> {
  if (!settings) return {};
  const { tokens, base } = settings;
  const expiresAtMs = dispatchEndsMs(job, nowMs);
  const url = (purpose: DataPurpose, part: string) => {
    const grant = { purpose, jobId: job.id, dispatchId: job.dispatch_id, workerId: job.worker_id, tenant: job.tenant };
    const token = tokens.sign(grant, expiresAtMs);
    return `${base.replace(/\/$/, '')}/api/v1/data/${encodeURIComponent(job.id)}/${part}?token=${token}`;
  };
  const effect = { [dataUrlEnv.effect]: url('effect', 'effects') };
  if (effectOnly) return effect;
  return {
    ...effect,
    // An input in another kind of store is not served by the gateway; the worker follows its pointer.
    ...(contextPointer(job).startsWith('redis://') && { [dataUrlEnv.input]: url('input', 'input') }),
    [dataUrlEnv.result]: url('result', 'result'),
    [dataUrlEnv.artifact]: url('artifact', 'artifacts'),
  };
}

export interface DataUrlDeps {
  artifacts: ArtifactDeps;
  /** Undefined: this gateway has no key and rejects every token. */
  tokens: DataTokens | undefined;
  maxBytes: number;
}

/**
 * The grant in a data URL's token, checked for a job and a purpose. Reads no store.
 *
 * @throws data_url_invalid, data_url_expired, data_url_forbidden
 */
export function openDataUrl(
  { artifacts: { clock }, tokens }: Pick<DataUrlDeps, 'artifacts' | 'tokens'>,
  purpose: DataPurpose,
  jobId: string | undefined,
  token: unknown,
): DataGrant {
  if (!tokens || typeof token !== 'string') throw new AppError('data_url_invalid');
  const grant = tokens.verify(token, clock.nowMs());
  if (grant.purpose !== purpose || grant.jobId !== jobId) throw new AppError('data_url_forbidden');
  return grant;
}

/** States in which a worker has, or may have, the job. */
const withWorker: readonly string[] = [...inFlightStates, 'SCHEDULED'];

/** @throws job_not_found, tenant_access_denied, job_not_in_flight, dispatch_superseded */
export async function heldJob(
  { artifacts: { store } }: DataUrlDeps,
  grant: Omit<DataGrant, 'purpose'>,
): Promise<JobRecord> {
  const job = await store.jobs.load(grant.jobId);
  if (!job) throw new AppError('job_not_found');
  if (job.tenant !== grant.tenant) throw new AppError('tenant_access_denied');
  if (!withWorker.includes(job.state)) throw new AppError('job_not_in_flight', { state: job.state });
  if (job.dispatch_id !== grant.dispatchId || job.worker_id !== grant.workerId) {
    throw new AppError('dispatch_superseded');
  }
  return job;
}

/** @throws the codes of `openDataUrl` and `heldJob`, input_not_found, data_too_large */
export async function readJobInput(deps: DataUrlDeps, jobId: string, token: unknown): Promise<Uint8Array> {
  const job = await heldJob(deps, openDataUrl(deps, 'input', jobId, token));
  const found = await deps.artifacts.store.data.read(contextPointer(job), deps.maxBytes);
  if (!found) throw new AppError('input_not_found');
  if (found.sizeBytes > deps.maxBytes) throw new AppError('data_too_large', { limit_bytes: deps.maxBytes });
  return found.body;
}

/**
 * Stores a result body under a pointer derived from its SHA-256, so that a dispatch that ends between the check and the
 * write can neither overwrite its successor's result nor change a result after its scan.
 *
 * @throws the codes of `openDataUrl` and `heldJob`, overloaded
 */
export async function putJobResult(
  deps: DataUrlDeps,
  jobId: string,
  token: unknown,
  body: Uint8Array,
): Promise<StoredResultView> {
  const { id, tenant } = await heldJob(deps, openDataUrl(deps, 'result', jobId, token));
  const { store, admission } = deps.artifacts;
  const sha256 = createHash('sha256').update(body).digest('hex');
  const pointer = await admission.data(tenant, body.length, () => store.data.writeUploadedResult(id, sha256, body));
  return { result_ptr: pointer, size_bytes: body.length, sha256 };
}

/** @throws the codes of `openDataUrl` and `heldJob`, content_required, invalid_body, artifact_too_large, overloaded */
export async function putJobArtifact(
  deps: DataUrlDeps,
  jobId: string,
  { token, content_type, retention, labels }: PutJobArtifactQuery,
  bytes: Uint8Array,
): Promise<{ artifact_ptr: string; size_bytes: number }> {
  const { id, tenant, safety } = await heldJob(deps, openDataUrl(deps, 'artifact', jobId, token));
  if (bytes.length === 0) throw new AppError('content_required');
  const budgets = safety?.constraints?.['budgets'] as { max_artifact_bytes?: number } | undefined;
  const artifact = { bytes, content_type, retention, labels: { ...parseLabels(labels), job_id: id } };
  return storeArtifact(deps.artifacts, tenant, artifact, budgets?.max_artifact_bytes || undefined);
}

/** @throws invalid_body */
function parseLabels(text: string | undefined): Record<string, string> {
  const value = text ? parsed(text) : {};
  if (!isRecord(value) || !Object.values(value).every((label) => typeof label === 'string')) {
    throw new AppError('invalid_body', { error: 'labels must be a JSON object of strings' });
  }
  return value as Record<string, string>;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
