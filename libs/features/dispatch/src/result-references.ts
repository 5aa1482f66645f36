import {
  integrityErrorCode,
  integrityFault,
  isOwnResult,
  isVerifiable,
  type JobResult,
  limits,
  type ResourceRef,
} from '@svc/contract';
import type { JobRecord, Store } from '@svc/store';
import { createHash } from 'node:crypto';

const maxReferences = 100;
const artifactPointer = /^redis:\/\/art:(.+)$/;

/**
 * The result with its pointers filled in from its references, where it has only those.
 * See docs/reference/worker-protocol.md#packets.
 */
export const withPointers = (result: JobResult): JobResult => ({
  ...result,
  result_ptr: result.result_ptr || (result.result_ref?.uri ?? ''),
  artifact_ptrs:
    result.artifact_ptrs.length > 0
      ? result.artifact_ptrs
      : result.artifact_refs.map(({ uri }) => uri).filter((uri) => uri !== ''),
});

/**
 * Compares results with the size and SHA-256 of their references. Contents outside the platform's
 * store are not fetched; their readers verify them.
 *
 * @param inline body of the result from its message, which is not in the store yet
 * @returns the failure of the job, or undefined
 */
export async function checkReferences(
  { data }: Pick<Store, 'data'>,
  job: Pick<JobRecord, 'id' | 'tenant'>,
  { result_ptr: pointer, result_ref: ref, artifact_refs: artifacts }: JobResult,
  inline?: Buffer,
): Promise<{ code: string; message: string } | undefined> {
  const failure = (message: string) => ({ code: integrityErrorCode, message });
  if (ref?.uri && ref.uri !== pointer) return failure('result_ref names another resource than result_ptr');
  if (artifacts.length > maxReferences) {
    return failure(`artifact_refs: ${artifacts.length} references, at most ${maxReferences} can be verified`);
  }
  const named = [
    ...(ref ? [['result_ref', { ...ref, uri: pointer }] as const] : []),
    ...artifacts.map((artifact, i) => [`artifact_refs[${i}]`, artifact] as const),
  ];
  // Sequential, so that one result never holds several large bodies in memory.
  for (const [name, one] of named) {
    const fault =
      isVerifiable(one) &&
      (inline && one.uri === pointer ? toInlineFault(one, inline) : await findFault(data, job, one));
    if (fault) return failure(`${name}: ${fault}`);
  }
  return undefined;
}

const toInlineFault = (ref: ResourceRef, body: Buffer): string | undefined =>
  integrityFault(ref, { sizeBytes: body.length, sha256: createHash('sha256').update(body).digest() });

async function findFault(
  data: Store['data'],
  job: Pick<JobRecord, 'id' | 'tenant'>,
  ref: ResourceRef,
): Promise<string | undefined> {
  if (!ref.uri.startsWith('redis://')) return undefined;
  if (!isOwnResult(job.id, ref.uri) && !(await isOwnArtifact(data, job, ref.uri))) {
    return 'the resource does not belong to the job';
  }
  const found = await data.digest(ref.uri, ref.sha256.length > 0 ? limits.scanMostBytes : 0);
  if (!found) return 'the content is not in the store';
  const fault = integrityFault(ref, found);
  return ref.sha256.length > 0 && !found.sha256 && found.sizeBytes > limits.scanMostBytes
    ? `the content has ${found.sizeBytes} bytes, at most ${limits.scanMostBytes} can be verified`
    : fault;
}

/** An artifact without metadata has no tenant and is protected only by its random id. */
async function isOwnArtifact(
  data: Store['data'],
  { tenant }: Pick<JobRecord, 'tenant'>,
  uri: string,
): Promise<boolean> {
  const [, id] = artifactPointer.exec(uri) ?? [];
  if (id === undefined) return false;
  const meta = await data.artifactMeta(id);
  return meta === null || meta.tenant === tenant;
}
