import { useApi } from './api.testing';
import { send } from './fuzz/wire-client.testing';
import { identities, keySession } from './identities.testing';

describe('a session cookie at the API', () => {
  const api = useApi();
  const getCookie = async (who: 'admin' | 'other') => {
    const { token } = await api.sessions.create(keySession(identities[who].key, identities[who].tenant));
    return `svc_session=${token}`;
  };
  /** A request that a page of another site makes the browser send. */
  const submit = async (headers: Record<string, string>) => {
    const body = Buffer.from(JSON.stringify({ prompt: 'x', topic: 'job.demo.echo' }));
    const { status, text } = await send(api.url, { method: 'POST', target: '/api/v1/jobs', headers, body });
    return { status, code: (JSON.parse(text) as { code?: string }).code };
  };
  const forged = { status: 403, code: 'origin_not_allowed' };

  it('403: an ignored credential does not bypass the cross-site check', async () => {
    const Cookie = await getCookie('admin');
    const ignoredHeaders: Record<string, string>[] = [
      {},
      { Authorization: 'Basic eDp5' },
      { Authorization: 'Bearer' },
      { Authorization: 'x' },
      { 'X-API-Key': '""' },
      { 'X-API-Key': "'" },
    ];

    for (const headers of ignoredHeaders) {
      expect([headers, await submit({ Cookie, ...headers })]).toEqual([headers, forged]);
    }
  });

  it('200: a key takes precedence over the cookie, and own pages may use the cookie', async () => {
    const Cookie = await getCookie('admin');

    expect((await submit({ Cookie, 'X-API-Key': identities.user.key })).status).toBe(200);
    expect((await submit({ Cookie, 'Sec-Fetch-Site': 'same-origin' })).status).toBe(200);
  });

  it('401: two session cookies, in either order', async () => {
    const [own, planted] = [await getCookie('admin'), await getCookie('other')];
    const list = (Cookie: string) => send(api.url, { method: 'GET', target: '/api/v1/jobs', headers: { Cookie } });

    expect((await list(own)).status).toBe(200);
    expect((await list(`${planted}; ${own}`)).status).toBe(401);
    expect((await list(`${own}; ${planted}`)).status).toBe(401);
  });
});
