import { sign } from 'jsonwebtoken';
import { httpRequest, type HttpLoad } from '../http-load';
import type { Product } from '../product';
import type { Session } from '../session';
import { median } from '../statistics';

/** Answers everyone, and authenticates those who send a credential; the answer to viewers is the same. */
const path = '/api/v1/health';
const CONNECTIONS = 8;
/** Pairs of an open and an authenticated batch, of which the median counts, because the machine changes its pace. */
const ROUNDS = 31;
const password = 'House-of-the-bench-1';
const jwtSecret = 'bench-secret-of-32-bytes-and-more';
const env = {
  SVC_USER_AUTH_ENABLED: 'true',
  SVC_ADMIN_PASSWORD: password,
  SVC_JWT_HMAC_SECRET: jwtSecret,
};

const jwt = () =>
  sign({ iss: 'svc-dev', sub: 'bench', role: 'viewer', tenant: 'default' }, jwtSecret, { expiresIn: '1h' });

async function readJson(load: HttpLoad, request: Buffer): Promise<Record<string, unknown>> {
  const { status, body } = await load.one(request);
  if (status >= 300) throw new Error(`status ${status}: ${body}`);
  return JSON.parse(body) as Record<string, unknown>;
}

/** Requests per second with each kind of credential, divided by those of the same route without one. */
async function measure(product: Product, requests: number): Promise<Record<string, number>> {
  const load = await product.openLoad(CONNECTIONS);
  try {
    const { secret } = await readJson(load, product.post('/api/v1/auth/keys', { name: 'bench', scopes: [] }));
    await readJson(load, product.post('/api/v1/users', { username: 'viewer-1', password, role: 'viewer' }));
    const login = JSON.stringify({ username: 'viewer-1', password });
    const { token } = await readJson(load, httpRequest('POST', '/api/v1/auth/login', {}, login));
    const as = (bearer: unknown) => httpRequest('GET', path, { Authorization: `Bearer ${String(bearer)}` });
    const known = {
      key: httpRequest('GET', path, { 'X-API-Key': String(secret) }),
      session: as(token),
      jwt: as(jwt()),
    };

    const rate = async (request: Buffer): Promise<number> => {
      const beganMs = performance.now();
      await load.run(requests, async (send) => {
        const { status, body } = await send(request);
        if (status !== 200) throw new Error(`status ${status}: ${body}`);
      });
      return (requests * 1_000) / (performance.now() - beganMs);
    };
    const open = httpRequest('GET', path);
    for (const request of [open, ...Object.values(known)]) await rate(request);

    const ratios: Record<string, number> = {};
    for (const [kind, request] of Object.entries(known)) {
      const pairs: number[] = [];
      for (let i = 0; i < ROUNDS; i++) {
        // The one that runs second finds a warmer machine, or one that something else has begun to use.
        const isFirst = i % 2 === 0;
        const before = await rate(isFirst ? request : open);
        const after = await rate(isFirst ? open : request);
        pairs.push(isFirst ? before / after : after / before);
      }
      ratios[kind] = median(pairs);
    }
    return ratios;
  } finally {
    load.close();
  }
}

/** The rate with an API key, a session or a JWT, divided by the rate without a credential: the lowest of the three. */
export async function authOverhead(session: Session): Promise<number> {
  const ratios = await session.withProduct({ env }, (product) => measure(product, session.sizes.reads));
  const shown = Object.entries(ratios).map(([kind, ratio]) => `${kind} ${ratio.toFixed(2)}`);
  session.say(`rate with a credential, of the open rate: ${shown.join(', ')}`);
  return Math.min(...Object.values(ratios));
}
