import { builtInRoles, endpoints, type AuditAct } from '@svc/contract';
import { mount, openapi, serve, serveSwagger, type Listening, type MountOptions, type RefusedRequest } from '@svc/http';
import { authenticator, openApiKeys, openPasswords, openSessions, SignInLimits } from '@svc/identity';
import { queues } from '@svc/queues.config';
import { openStore, type Store } from '@svc/store';
import { emptyRedis, startRedis, type TestServer } from '@svc/testing';
import { randomIds } from '@svc/runtime';
import type { UserDeps } from '@svc/users';
import { Redis } from 'ioredis';
import { apiInfo } from '../api-info';
import { mountAdmin } from './mount-admin';

/** API keys of the admin tests, by role. */
export const apiKeys = {
  admin: 'key-of-the-admin-of-acme-000001',
  everywhere: 'key-of-the-admin-of-all-000002',
  other: 'key-of-the-admin-of-globex-0003',
  viewer: 'key-of-a-viewer-of-acme-0000004',
};

const configured = JSON.stringify([
  { key: apiKeys.admin, tenant: 'acme', role: 'admin', principal_id: 'ann' },
  { key: apiKeys.everywhere, tenant: 'acme', role: 'admin', principal_id: 'eve', allow_cross_tenant: true },
  { key: apiKeys.other, tenant: 'globex', role: 'admin', principal_id: 'gus' },
  { key: apiKeys.viewer, tenant: 'acme', role: 'viewer', principal_id: 'vic' },
]);

interface Settings {
  rbac: boolean;
  /** Uses up the request limit of the test addresses. */
  addressesAreSpent: boolean;
}
const usual: Settings = { rbac: false, addressesAreSpent: false };

export interface AdminSite {
  readonly url: string;
  readonly store: Store;
  readonly redis: Redis;
  /** Unexpected errors. */
  readonly defects: unknown[];
  /** Refused credentials, in order. */
  readonly refused: RefusedRequest[];
  /** Current behaviour of the site; reset before each test. */
  readonly set: Settings;
}

/** Headers that browsers send with a form of this site. */
export const ownForm = (site: AdminSite) => ({ Origin: site.url, Accept: 'text/html' });

/** The admin pages and the API viewer on a port, with a Redis that is private to the test file and emptied before each test. */
export function useAdminSite({ production = false, trustedProxies = [] as readonly string[] } = {}): AdminSite {
  const set = { ...usual };
  const defects: unknown[] = [];
  const refused: RefusedRequest[] = [];
  const stops: (() => unknown)[] = [];
  let open: { server: TestServer; redis: Redis; store: Store; listening: Listening } | undefined;

  beforeAll(async () => {
    const server = await startRedis();
    const redis = new Redis(server.url);
    const store = openStore(redis, queues, { metaSec: 3_600, dataSec: 600 });
    const site = buildSite({
      store,
      set,
      production,
      trustedProxies,
      defects,
      refused,
      onStop: (_name, stop) => void stops.push(stop),
    });
    const timeouts = { requestTimeoutMs: 10_000, idleTimeoutMs: 10_000, writeTimeoutMs: 10_000 };
    const connections = { maxConnections: 1_000, maxConnectionsPerAddress: 1_000 };
    const onProblem = (problem: unknown) => void defects.push(problem);
    const listening = await serve(site, { host: '127.0.0.1', port: 0, ...timeouts, ...connections, onProblem });
    open = { server, redis, store, listening };
  }, 30_000);
  beforeEach(async () => {
    Object.assign(set, usual);
    defects.length = 0;
    refused.length = 0;
    if (open) await emptyRedis(open.server.url);
  });
  afterAll(async () => {
    await open?.listening.close(100);
    for (const stop of stops) await stop();
    await open?.redis.quit();
    await open?.server.stop();
  }, 30_000);

  const opened = () => {
    if (!open) throw new Error('the site is open only inside hooks and tests');
    return open;
  };
  return {
    get url() {
      return `http://127.0.0.1:${opened().listening.port}`;
    },
    get store() {
      return opened().store;
    },
    get redis() {
      return opened().redis;
    },
    defects,
    refused,
    set,
  };
}

interface SiteParts {
  store: Store;
  set: Settings;
  production: boolean;
  trustedProxies: readonly string[];
  defects: unknown[];
  refused: RefusedRequest[];
  onStop(name: string, stop: () => unknown): void;
}

function buildSite({ store, set, production, trustedProxies, defects, refused, onStop }: SiteParts) {
  const nowMs = () => Date.now();
  const onProblem = (problem: unknown) => void defects.push(problem);
  const held = openApiKeys(
    {
      key: '',
      keys: configured,
      path: '',
      defaultTenant: 'acme',
      production: false,
      skipSecretValidation: true,
    },
    { nowMs, onProblem, onAdminByDefault: () => undefined },
  );
  const sessions = openSessions(store.sessions, { ttlMs: 3_600_000, idleMs: 3_600_000, nowMs });
  const limiter = async (bucket: string) => ({
    allowed: !(set.addressesAreSpent && bucket.startsWith('ip:')),
    headers: { 'Retry-After': '1' },
  });
  const authenticate = authenticator(
    { keys: [held], bearer: [], sessions },
    {
      defaultTenant: 'acme',
      allowAnonymous: true,
      allowHeaderPrincipal: true,
      jwtRequired: false,
      production: false,
    },
  );
  const audited = async <T>(tenant: string, act: AuditAct, request: () => Promise<T>) => {
    const result = await request();
    await store.audit.record(tenant, act);
    return result;
  };
  const users: UserDeps = {
    ...{ store, sessions, authenticate, audited, sealed: undefined },
    clock: { nowMs },
    random: randomIds(),
    passwords: openPasswords(),
    limits: new SignInLimits(store.redis, { maxAttempts: 5, maxGlobalAttempts: 50, periodMs: 900_000 }),
    roles: () => builtInRoles,
    isTenantStopped: () => false,
    rbac: () => set.rbac,
    takesApiKeys: () => true,
    sso: async () => ({}),
    onRefused: (refusal) => void refused.push(refusal),
    announce: () => undefined,
    settings: { isEnabled: true, defaultTenant: 'acme', sessionTtlMs: 3_600_000 },
  };
  const surface: MountOptions = {
    authenticate,
    audited,
    onRefused: (refusal) => void refused.push(refusal),
    gate: { rbac: () => set.rbac },
    rateLimits: { api: limiter, open: limiter },
    bodyLimits: { json: 10_000, job: 10_000, artifact: 10_000, data: 10_000, dataset: 10_000, form: 10_000 },
    allowedOrigins: [],
    trustedProxies,
    handlerTimeoutMs: 10_000,
    onDefect: onProblem,
    checkAnswers: true,
  };
  const { app, finish } = mount([], {}, surface);
  serveSwagger(app, openapi(endpoints, apiInfo('0.0.0')));
  mountAdmin(app, { env: { production, defaultTenant: 'acme' }, onStop }, { store, users, surface });
  return finish();
}
