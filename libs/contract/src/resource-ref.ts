import type { ResourceRef } from './proto/messages';

type Stated = Pick<ResourceRef, 'sha256' | 'size_bytes'>;

export interface ContentFacts {
  sizeBytes: number;
  /** Required only if the reference states one. */
  sha256?: Uint8Array;
}

/** Error code of a job whose input, result or artifact does not match its reference. */
export const integrityErrorCode = 'integrity_check_failed';

const sha256Bytes = 32;

/** Whether the reference states a size or hash to verify. */
export const isVerifiable = ({ sha256, size_bytes }: Stated): boolean => sha256.length > 0 || size_bytes > 0;

/**
 * How the content differs from its reference; undefined if it matches.
 * See docs/reference/worker-protocol.md#packets.
 */
export function integrityFault({ sha256, size_bytes }: Stated, content: ContentFacts): string | undefined {
  if (sha256.length > 0 && sha256.length !== sha256Bytes) {
    return `sha256 has ${sha256.length} bytes instead of ${sha256Bytes}`;
  }
  if (size_bytes > 0 && size_bytes !== content.sizeBytes) {
    return `the content has ${content.sizeBytes} bytes, the reference says ${size_bytes}`;
  }
  if (sha256.length > 0 && Buffer.compare(sha256, content.sha256 ?? new Uint8Array()) !== 0) {
    return 'the content has another SHA-256 than the reference';
  }
  return undefined;
}
