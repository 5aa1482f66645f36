import { canonicalJson } from '@svc/json';
import type { AuditRepository } from '@svc/store';
import { operatorClient, type HttpReceiverDeps } from '../exporter/http-receiver';
import type { Anchor } from './anchor';
import { buildTimestampRequest, readTimestamp } from './timestamp';

/**
 * Has each checkpoint signed by a time-stamp authority (RFC 3161), over its canonical JSON, and keeps the token. It proves that the
 * events before it existed at that time, also against the owner of the signing key.
 *
 * @param trusted certificates (DER); empty = the signature of the authority is not verified
 */
export function timestampAnchor(
  deps: Pick<HttpReceiverDeps, 'production' | 'tls'> & { store: Pick<AuditRepository, 'keepTimestamp'> },
  url: string,
  trusted: readonly Buffer[],
): Anchor {
  // Authorities serve http: the token is signed, and the request contains only a hash.
  const client = operatorClient(url, { ...deps, production: false });
  return {
    kind: 'tsa',
    publish: async (checkpoint) => {
      const request = buildTimestampRequest(Buffer.from(canonicalJson(checkpoint)));
      const { status, body } = await client.request(url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/timestamp-query', Accept: 'application/timestamp-reply' },
        body: request.der,
      });
      if (status !== 200) throw new Error(`the time-stamp authority answered ${status}`);
      const { at, token } = await readTimestamp(body, request, trusted);
      await deps.store.keepTimestamp(checkpoint.tenant_id, checkpoint.seq, { at, token: token.toString('base64') });
    },
  };
}
