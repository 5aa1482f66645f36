/** Subprotocol for sending an API key; the server echoes only this name. */
export const webSocketProtocol = 'svc-api-key';

/**
 * Extracts the API key from a `Sec-WebSocket-Protocol` header: `svc-api-key, <base64url key>`, or the deprecated single value
 * `svc-api-key.<base64url key>`.
 */
export function getProtocolKey(header: string): string | undefined {
  const offered = header.split(',').map((value) => value.trim());
  const legacy = offered.find((value) => value.startsWith(`${webSocketProtocol}.`));
  const at = offered.indexOf(webSocketProtocol);
  const encoded = at >= 0 ? offered.find((_, i) => i !== at) : legacy?.slice(webSocketProtocol.length + 1);
  if (!encoded || !/^[A-Za-z0-9_-]+$/.test(encoded)) return undefined;
  return Buffer.from(encoded, 'base64url').toString('utf8');
}
