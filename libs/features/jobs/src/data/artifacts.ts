import { AppError, tierLimit, type ArtifactView, type Caller, type PutArtifactBody } from '@svc/contract';
import type { ArtifactMeta } from '@svc/store';
import type { Admission } from '@svc/admission';
import type { Base } from '@svc/platform';
import { isWithheld, markOutputRead } from '../withheld';

export interface ArtifactDeps extends Base {
  admission: Admission;
  /** From the license in effect; 0 and -1 = the configured limit. */
  maxLicensedBytes(): number;
  settings: { artifactMaxBytes: number; artifactTtlSec: Record<ArtifactMeta['retention'], number> };
}

/**
 * Stores an artifact. See docs/reference/jobs.md#artifacts.
 *
 * @param narrowerBytes limit sent by the caller; it can only lower the configured one
 * @throws content_required, invalid_base64_content, tenant_access_denied, artifact_too_large, tier_limit_exceeded, overloaded
 */
export async function putArtifact(
  deps: ArtifactDeps,
  caller: Caller,
  body: PutArtifactBody,
  callerLimitBytes: number | undefined,
): Promise<{ artifact_ptr: string; size_bytes: number }> {
  return storeArtifact(deps, caller.tenant, { ...body, bytes: toBytes(body) }, callerLimitBytes);
}

export interface NewArtifact {
  bytes: Uint8Array;
  content_type?: string | undefined;
  retention?: string | undefined;
  labels: Record<string, string>;
}

/** @throws tenant_access_denied, artifact_too_large, tier_limit_exceeded, overloaded */
export async function storeArtifact(
  { store, clock, random, settings, admission, maxLicensedBytes }: ArtifactDeps,
  tenant: string,
  { bytes, content_type, retention: wanted, labels }: NewArtifact,
  callerLimitBytes: number | undefined,
): Promise<{ artifact_ptr: string; size_bytes: number }> {
  const most = Math.min(settings.artifactMaxBytes, callerLimitBytes ?? Infinity);
  if (bytes.length > most) throw new AppError('artifact_too_large', { limit_bytes: most });
  const licensed = maxLicensedBytes();
  if (licensed > 0 && bytes.length > licensed) throw tooLargeForPlan(bytes.length, licensed);
  const named = labels['tenant_id'];
  if (named !== undefined && named !== tenant) throw new AppError('tenant_access_denied');
  const retention = wanted === 'short' || wanted === 'audit' ? wanted : 'standard';
  const id = random.uuid();
  const meta: ArtifactMeta = {
    ...(content_type && { content_type }),
    size_bytes: bytes.length,
    retention,
    labels: { ...labels, tenant_id: tenant },
    created_at: new Date(clock.nowMs()).toISOString(),
    tenant,
  };
  await admission.data(tenant, bytes.length, () =>
    store.data.writeArtifact(id, Buffer.from(bytes), meta, settings.artifactTtlSec[retention]),
  );
  return { artifact_ptr: `redis://art:${id}`, size_bytes: bytes.length };
}

const tooLargeForPlan = (current: number, allowed: number) =>
  tierLimit({
    message: `the artifact has ${current} bytes and the plan allows ${allowed}`,
    limit: 'max_artifact_bytes',
    current,
    allowed,
  });

/** Bounded to two: an unbounded pattern is quadratic on a long run of `=`. */
const unpadded = (base64: string): string => base64.replace(/={1,2}$/, '');

function toBytes({ content_base64, content }: PutArtifactBody): Buffer {
  if (content_base64) {
    const bytes = Buffer.from(content_base64, 'base64');
    // Node skips characters that are not base64, so the text is compared with the canonical encoding of its bytes.
    const plain = unpadded(content_base64);
    if (plain === '' || unpadded(bytes.toString('base64')) !== plain) throw new AppError('invalid_base64_content');
    return bytes;
  }
  if (!content) throw new AppError('content_required');
  return Buffer.from(content, 'utf8');
}

const pointer = /^(?:redis:\/\/)?(?:art:)?([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/i;

/**
 * An artifact whose label `job_id` names the job that produced it is withheld together with that job's output.
 *
 * @throws invalid_artifact_pointer, artifact_not_found, tenant_access_denied, artifact_too_large, output_quarantined
 */
export async function getArtifact(
  { store }: Pick<Base, 'store'>,
  caller: Caller,
  ptr: string,
  maxBytes: number | undefined,
): Promise<ArtifactView> {
  const id = pointer.exec(ptr)?.[1]?.toLowerCase();
  if (!id) throw new AppError('invalid_artifact_pointer');
  const meta = await store.data.artifactMeta(id);
  if (!meta) throw new AppError('artifact_not_found');
  if (caller.scope !== '*' && meta.labels['tenant_id'] !== caller.tenant) throw new AppError('tenant_access_denied');
  if (maxBytes !== undefined && meta.size_bytes > maxBytes) {
    throw new AppError('artifact_too_large', { limit_bytes: maxBytes });
  }
  const { job_id: jobId } = meta.labels;
  const job = jobId === undefined ? undefined : await store.jobs.load(jobId);
  if (job && job.tenant === meta.labels['tenant_id']) {
    markOutputRead(job);
    if (isWithheld(job)) throw new AppError('output_quarantined');
  }
  const body = await store.data.artifactBody(id);
  if (!body) throw new AppError('artifact_not_found');
  const { content_type, size_bytes, retention, labels } = meta;
  return {
    artifact_ptr: `redis://art:${id}`,
    content_base64: body.toString('base64'),
    metadata: { ...(content_type && { content_type }), size_bytes, retention, labels },
  };
}
