import { endChild, spawnLeashed } from '@svc/testing';
import { once } from 'node:events';
import { createServer, request as requestHttp, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { exportJWK, generateKeyPair, SignJWT, type JWK, type JWTPayload } from 'jose';

const script = join(__dirname, '../../../../examples/sso/provider.mjs');

/** Changes a response of the provider. */
export type Tamper = (path: string, body: string) => string | Promise<string>;

export interface ExampleProvider {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** Sees, and may change, each response of the provider to the gateway and to browsers. Undefined = nothing. */
  tamper: Tamper | undefined;
  /** Paths that were requested. */
  readonly requested: string[];
  /** Signs claims with the key of the provider, or with one that it never had. */
  sign(claims: JWTPayload, header?: { kid?: string; typ?: string; forged?: true }): Promise<string>;
  stop(): Promise<void>;
}

/**
 * Starts the provider of examples/sso in a process of its own, behind a proxy that is its issuer.
 *
 * @param gateway origin of the callback
 */
export async function startExampleProvider(gateway: string): Promise<ExampleProvider> {
  const keys = await generateKeyPair('RS256', { extractable: true });
  const forged = await generateKeyPair('RS256');
  const jwk: JWK = { ...(await exportJWK(keys.privateKey)), kid: 'key-1', alg: 'RS256', use: 'sig' };
  let port = 0;
  const proxy = createServer((req, res) => void forward(req, res).catch(() => res.destroy()));
  await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done));
  const issuer = `http://localhost:${(proxy.address() as AddressInfo).port}`;
  const [clientId, clientSecret] = ['svc', 'a-secret-that-only-this-test-uses'];
  const child = spawnLeashed(process.execPath, [script], {
    env: {
      ...{ PATH: process.env['PATH'], PORT: '0', ISSUER: issuer, GATEWAY: gateway },
      ...{ CLIENT_ID: clientId, CLIENT_SECRET: clientSecret, JWKS: JSON.stringify({ keys: [jwk] }) },
    },
    output: 'pipe',
  });
  if (!child.stdout) throw new Error('the provider has no output');
  for await (const line of createInterface({ input: child.stdout })) {
    port = Number(/^listening on (\d+)/.exec(line)?.[1] ?? 0);
    if (port > 0) break;
  }
  child.stdout.resume();
  const requested: string[] = [];
  const provider: ExampleProvider = {
    ...{ issuer, clientId, clientSecret, tamper: undefined, requested },
    sign: (claims, { forged: isForged, ...header } = {}) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'RS256', kid: 'key-1', ...header })
        .sign(isForged ? forged.privateKey : keys.privateKey),
    stop: async () => {
      proxy.closeAllConnections();
      proxy.close();
      await endChild(child);
    },
  };

  async function forward(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const [path = ''] = (req.url ?? '').split('?');
    requested.push(path);
    const { 'accept-encoding': _, ...headers } = req.headers;
    const upstream = requestHttp({ host: '127.0.0.1', port, path: req.url, method: req.method, headers });
    req.pipe(upstream);
    const [answer] = (await once(upstream, 'response')) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of answer) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString('utf8');
    const changed = provider.tamper ? await provider.tamper(path, body) : body;
    const { 'content-length': _length, 'transfer-encoding': _encoding, ...kept } = answer.headers;
    res.writeHead(answer.statusCode ?? 500, kept).end(changed);
  }
  return provider;
}

/**
 * A browser that signs in at the example provider, and stops at the first redirect to another origin.
 *
 * @param start URL of the authorization endpoint, with its query
 * @returns that redirect
 */
export async function signInAt(issuer: string, start: string, name: string): Promise<URL> {
  const cookies = new Map<string, { path: string; value: string }>();
  const send = async (url: string, form?: Record<string, string>): Promise<Response> => {
    const { pathname } = new URL(url);
    const sent = [...cookies].filter(([, { path }]) => pathname.startsWith(path)).map(([key, { value }]) => `${key}=${value}`);
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: sent.join('; ') },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, key = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      const path = /;\s*path=([^;]+)/i.exec(line)?.[1] ?? '/';
      if (value === '') cookies.delete(key);
      else cookies.set(key, { path, value });
    }
    return response;
  };
  let response = await send(start);
  for (let step = 0; step < 12; step++) {
    const location = response.headers.get('location');
    const next = location === null ? undefined : new URL(location, issuer);
    if (!next) throw new Error(`the provider answered ${response.status}: ${await response.text()}`);
    if (next.origin !== issuer) return next;
    if (!next.pathname.startsWith('/interaction/')) {
      response = await send(next.href);
      continue;
    }
    const page = await (await send(next.href)).text();
    const prompt = page.includes('value="login"') ? 'login' : 'consent';
    response = await send(next.href, prompt === 'login' ? { prompt, login: name, password: 'any' } : { prompt });
  }
  throw new Error('the sign-in did not end');
} // prettier-ignore
