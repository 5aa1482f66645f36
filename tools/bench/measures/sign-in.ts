import type { Product } from '../product';
import { httpRequest } from '../http-load';
import type { Session } from '../session';
import { percentile } from '../statistics';

const USERS = 16;
/** Sign-ins under way at a time; an address may have 20. */
const CONNECTIONS = 8;
const password = 'Keel-and-rudder-7';
const env = {
  SVC_USER_AUTH_ENABLED: 'true',
  SVC_ADMIN_PASSWORD: 'House-of-the-bench-1',
  API_PUBLIC_RATE_LIMIT_RPS: '1000000',
  API_PUBLIC_RATE_LIMIT_BURST: '1000000',
};
const loginPath = '/api/v1/auth/login';

interface SignInResults {
  perSec: number;
  /** Response times of a probe during the sign-ins, ms. */
  probeMs: readonly number[];
}

async function measure(product: Product, logins: number): Promise<SignInResults> {
  const load = await product.openLoad(CONNECTIONS);
  const prober = await product.openLoad(1);
  const checked = async (send: () => Promise<{ status: number; body: string }>, status: number) => {
    const answer = await send();
    if (answer.status !== status) throw new Error(`status ${answer.status}: ${answer.body}`);
    return answer.body;
  };
  try {
    for (let i = 0; i < USERS; i++) {
      const user = { username: `bench-${i}`, password, role: 'viewer' };
      await checked(() => load.one(product.post('/api/v1/users', user)), 201);
    }
    const attempts = Array.from({ length: USERS }, (_, i) =>
      httpRequest('POST', loginPath, {}, JSON.stringify({ username: `bench-${i}`, password })),
    );
    const signIn = (count: number) =>
      load.run(count, async (send, i) => void (await checked(() => send(attempts[i % USERS] ?? Buffer.alloc(0)), 200)));
    await signIn(USERS);

    const probeMs: number[] = [];
    let isRunning = true;
    const probing = (async () => {
      while (isRunning) {
        const sentMs = performance.now();
        await checked(() => prober.one(httpRequest('GET', '/livez')), 200);
        probeMs.push(performance.now() - sentMs);
      }
    })();
    const startedMs = performance.now();
    await signIn(logins);
    const perSec = (logins * 1_000) / (performance.now() - startedMs);
    isRunning = false;
    await probing;
    return { perSec, probeMs };
  } finally {
    load.close();
    prober.close();
  }
}

const results = new WeakMap<Session, Promise<SignInResults>>();
const once = (session: Session): Promise<SignInResults> => {
  const { logins } = session.sizes;
  const known = results.get(session) ?? session.withProduct({ env }, (product) => measure(product, logins));
  results.set(session, known);
  return known;
};

/** Sign-ins by password per second, as many at a time as one address may have. */
export const login = async (session: Session): Promise<number> => (await once(session)).perSec;

/** Response time of a probe during sign-ins, which shows how long the event loop is held up: p99, ms. */
export const loginProbe = async (session: Session): Promise<number> => percentile((await once(session)).probeMs, 0.99);
