import { contextPointer, isStorePointer, limits } from '@svc/contract';
import type { JobRecord, Store } from '@svc/store';
import { hash } from 'node:crypto';

/** SHA-256 (hex) of an input document; a missing document is an empty one. */
export const inputHash = (document: string | Buffer | null): string => hash('sha256', document ?? '');

/** The hash of an input in an external store, whose content no approval can cover. */
export const unreadableInput = '';

/** The hash of a job's input as it is stored now, or `unreadableInput`. */
export async function currentInputHash(
  { data }: Pick<Store, 'data'>,
  job: Pick<JobRecord, 'id' | 'request'>,
): Promise<string> {
  const pointer = contextPointer(job);
  if (!isStorePointer(pointer)) return unreadableInput;
  return inputHash(await data.context(pointer, limits.contextBytes));
}

/**
 * Whether the input of a job is byte for byte what its approval covers. Approvers decide on the input they were shown, and
 * workers can write to the store that holds it. Approvals without a hash come from before inputs were covered.
 */
export async function isApprovedInput(
  store: Pick<Store, 'data'>,
  job: Pick<JobRecord, 'id' | 'request' | 'approval'>,
): Promise<boolean> {
  const approved = job.approval?.input_hash;
  return approved === undefined || approved === (await currentInputHash(store, job));
}
