import { getProtocolKey } from './web-socket-key';

describe('the key in a WebSocket subprotocol', () => {
  const encoded = Buffer.from('k1/+').toString('base64url');

  it.each([
    [`svc-api-key, ${encoded}`, 'k1/+'],
    [`svc-api-key.${encoded}`, 'k1/+'],
    ['svc-api-key', undefined],
    [`other, ${encoded}`, undefined],
    ['svc-api-key, not base64!', undefined],
  ])('%s', (header, key) => {
    expect(getProtocolKey(header)).toBe(key);
  });
});
