import type { JobRequest, ResourceRef } from '@svc/contract';
import type { StoredRequest } from '@svc/store';

type StoredRef = NonNullable<StoredRequest['context_ref']>;

/** A reference as the record keeps it; its uri is the record's own pointer. */
export const storedContextRef = ({ context_ref: ref }: JobRequest): StoredRef | undefined =>
  ref && {
    ...(ref.resolver_id && { resolver_id: ref.resolver_id }),
    ...(ref.sha256.length > 0 && { sha256: Buffer.from(ref.sha256).toString('hex') }),
    ...(ref.media_type && { media_type: ref.media_type }),
    ...(ref.size_bytes > 0 && { size_bytes: ref.size_bytes }),
    ...(ref.expires_at && { expires_at: Number(ref.expires_at.seconds) }),
    ...(ref.purpose && { purpose: ref.purpose }),
  };

/** @param uri where the input document is */
export const wireContextRef = (ref: StoredRef, uri: string): Partial<ResourceRef> => ({
  resolver_id: ref.resolver_id ?? '',
  uri,
  sha256: Buffer.from(ref.sha256 ?? '', 'hex'),
  media_type: ref.media_type ?? '',
  size_bytes: ref.size_bytes ?? 0,
  ...(ref.expires_at !== undefined && { expires_at: { seconds: ref.expires_at, nanos: 0 } }),
  purpose: ref.purpose ?? '',
});
