import { apiEnv, readEnv } from '@svc/runtime';
import { useApi } from './api.testing';
import { send } from './fuzz/wire-client.testing';
import { browserTrust } from './mount-options';

/** A page whose host name was rebound to this service, so that the browser treats it as the same origin. */
const rebound = { Host: 'evil.example:8081', Origin: 'http://evil.example:8081' };

describe('DNS rebinding', () => {
  const api = useApi({ env: { SVC_ALLOW_INSECURE_NO_AUTH: 'true' } });
  const get = async (headers: Record<string, string>) => {
    const answered = await send(api.url, { method: 'GET', target: '/api/v1/jobs', headers });
    return { status: answered.status, text: answered.text };
  };

  it('400: a page with another host name cannot read anything, even if no credentials are required', async () => {
    const { status, text } = await get(rebound);

    expect(status).toBe(400);
    expect(JSON.parse(text)).toMatchObject({ code: 'invalid_body', violations: [{ in: 'header', field: 'Host' }] });
    expect((await get({})).status).toBe(200);
  });
});

describe('SVC_ALLOWED_HOSTS', () => {
  const api = useApi({ env: { SVC_ALLOWED_HOSTS: 'gate.example, gate.internal' } });
  const getStatus = async (Host: string) =>
    (await send(api.url, { method: 'GET', target: '/livez', headers: { Host } })).status;

  it('lists all allowed hosts except loopback and IP addresses', async () => {
    expect(await getStatus('gate.example')).toBe(200);
    expect(await getStatus('gate.internal:443')).toBe(200);
    expect(await getStatus('127.0.0.1')).toBe(200);
    expect(await getStatus('evil.example')).toBe(400);
    expect(await getStatus('gateway')).toBe(400);
  });
});

describe('default hosts and origins for browsers', () => {
  const { values } = readEnv(apiEnv, {});

  it('production: no loopback origins; any host, since certificates name them, unless hosts are listed', () => {
    const inProduction = browserTrust({ ...values, production: true });
    const listed = browserTrust({ ...values, production: true, allowedHosts: ['gate.example'] });

    expect(inProduction).toEqual({ trustsLoopback: false });
    expect(listed.allowsHost?.('gate.example')).toBe(true);
    expect(listed.allowsHost?.('evil.example')).toBe(false);
  });

  it('development: loopback origins, and no public host names', () => {
    const trust = browserTrust(values);

    expect(trust.trustsLoopback).toBe(true);
    expect(trust.allowsHost?.('evil.example')).toBe(false);
  });
});
