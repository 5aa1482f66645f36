import { operatorClient, signatureHeaders, withoutUserinfo, type HttpReceiverDeps } from '../exporter/http-receiver';
import type { Anchor } from './anchor';

/** Sends each checkpoint as JSON, signed like the requests of the exporter. */
export function webhookAnchor(
  deps: Omit<HttpReceiverDeps, 'origin'>,
  configured: string,
  secret: string | undefined,
): Anchor {
  const { url, authorization } = withoutUserinfo(configured);
  const client = operatorClient(url, deps);
  return {
    kind: 'webhook',
    publish: async (checkpoint) => {
      const body = JSON.stringify(checkpoint);
      const id = `${checkpoint.event_hash.slice(0, 24)}-${checkpoint.seq}`;
      const { status } = await client.request(url, {
        method: 'POST',
        headers: {
          ...authorization,
          'Content-Type': 'application/json',
          ...signatureHeaders(deps, secret, id, body),
        },
        body,
      });
      if (status < 200 || status >= 300) throw new Error(`the receiver of checkpoints answered ${status}`);
    },
  };
}
