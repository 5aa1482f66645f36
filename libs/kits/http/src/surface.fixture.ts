import { endpoint, shape, type Caller, type Endpoint } from '@svc/contract';
import type { Presented } from '@svc/identity';
import Joi from 'joi';
import { EventStream } from './event-stream';
import { answer, handlersFor, type Route } from './handler';
import { mount } from './mount';
import type { MountOptions, Served } from './options';
import { serve } from './server';

interface NoteBody {
  title: string;
  count?: number;
  tags: string[];
  tenant_id?: string;
}

export const writeNote = endpoint({
  id: 'notes.write',
  method: 'post',
  path: '/api/v1/notes/:id',
  summary: 'Write a note',
  access: { permission: 'jobs.write', roles: ['admin', 'user'] },
  params: { id: Joi.string().max(20) },
  query: shape<{ limit: number; tenant?: string }>({
    required: { limit: Joi.number().integer().max(10).default(5) },
    optional: { tenant: Joi.string().description('Must be the caller’s.') },
  }),
  body: shape<NoteBody>({
    required: { title: Joi.string(), tags: Joi.array().items(Joi.string()).default([]) },
    optional: { count: Joi.number().integer().min(0), tenant_id: Joi.string() },
  }),
  violationCodes: { title: 'content_required' },
  answer: {
    status: 201,
    body: shape<{ id: string; title: string; limit: number; tenant: string }>({
      required: { id: Joi.string(), title: Joi.string(), limit: Joi.number(), tenant: Joi.string() },
    }),
    headers: { 'X-Trace-Id': 'Trace.' },
  },
  errors: ['job_not_found'],
});

export const looseNote = endpoint({
  id: 'notes.loose',
  method: 'put',
  path: '/api/v1/notes/:id',
  summary: 'Write a note, ignoring unknown fields',
  access: { roles: 'any' },
  params: { id: Joi.string() },
  body: shape<{ title: string }>({ required: { title: Joi.string().default('untitled') } }),
  bodyOptional: true,
  bodyIgnoresUnknown: true,
  bodyLimit: 'job',
  answer: { status: 200, body: shape<{ body: object }>({ required: { body: Joi.object() } }) },
  errors: [],
});

export const dropNote = endpoint({
  id: 'notes.drop',
  method: 'delete',
  path: '/api/v1/notes/:id',
  summary: 'Delete a note',
  access: { permission: 'jobs.write', roles: ['admin'] },
  params: { id: Joi.string() },
  answer: { status: 204 },
  errors: [],
});

export const probe = endpoint({
  id: 'probe',
  method: 'get',
  path: '/readyz',
  summary: 'Ready',
  access: 'public',
  params: {},
  query: shape<{ act?: string }>({ required: {}, optional: { act: Joi.string() } }),
  answer: { status: 200, body: shape<{ ok: boolean }>({ required: { ok: Joi.boolean() } }) },
  otherAnswers: { 503: { description: 'Not ready' } },
  errors: [],
});

/** Behavior of handlers, set by tests. */
export interface Ctx {
  act(name: string): Promise<unknown>;
}
const handle = handlersFor<Ctx>();

export const routes: readonly Route<Ctx>[] = [
  handle(writeNote, async ({ params, query, body, caller }) =>
    answer(
      { id: params.id, title: body.title, limit: query.limit, tenant: caller.tenant },
      { headers: { 'X-Trace-Id': 'trace-1' } },
    ),
  ),
  handle(looseNote, async ({ body }) => ({ body })),
  handle(dropNote, async ({ ctx, params }) => {
    const made = await ctx.act(params.id);
    return made instanceof EventStream ? made : undefined;
  }),
  handle(probe, async ({ query, ctx }) => {
    const ok = ((await ctx.act(query.act ?? '')) ?? true) as boolean;
    return query.act === 'unready' ? answer({ ok: false }, { status: 503 }) : { ok };
  }),
];

const caller = (role: string, tenant = 'acme'): Caller => ({
  tenant,
  scope: tenant,
  principalId: 'ann',
  role,
  keyId: '',
  keyName: '',
  allowCrossTenant: false,
  source: 'api_key',
  submitterId: 'apikey:1|principal:ann',
});

/** Keys are role names here; the identity library tests authentication. */
async function authenticate({ apiKey, cookie, tenant }: Presented) {
  const role = apiKey ?? (cookie ? 'admin' : '');
  if (!['admin', 'user', 'viewer', 'everyone'].includes(role))
    return { kind: 'refused', code: 'unauthorized' } as const;
  const known = caller(role === 'everyone' ? 'admin' : role, tenant ?? 'acme');
  const byCookie = apiKey === undefined;
  const acting = role === 'everyone' ? { ...known, scope: '*' } : known;
  return { kind: 'caller', caller: acting, credential: { ids: [] }, byCookie } as const;
}

export const bodyLimits = { json: 2_000, job: 4_000, artifact: 8_000, data: 8_000, dataset: 8_000, form: 8_000 };
export const bodyLimit = (endpoint: Endpoint): number => bodyLimits[endpoint.bodyLimit ?? 'json'];

/** A running server that records its callbacks. */
export async function startSurface(some: Partial<MountOptions> = {}, act: Ctx['act'] = async () => undefined) {
  const recorded = { served: [] as Served[], defects: [] as unknown[], refused: [] as string[] };
  const surface = mount(
    routes,
    { act },
    {
      authenticate,
      gate: { rbac: () => false },
      bodyLimits,
      allowedOrigins: [],
      trustsLoopback: true,
      handlerTimeoutMs: 5_000,
      checkAnswers: true,
      onServed: (served) => void recorded.served.push(served),
      onDefect: (error) => void recorded.defects.push(error),
      onRefused: ({ code }) => void recorded.refused.push(code),
      ...some,
    },
  );
  const onProblem = (problem: Error) => void recorded.defects.push(problem);
  const timeouts = { requestTimeoutMs: 5_000, idleTimeoutMs: 5_000, writeTimeoutMs: 5_000 };
  const connections = { maxConnections: 1_000, maxConnectionsPerAddress: 1_000 };
  const listening = await serve(surface.finish(), {
    host: '127.0.0.1',
    port: 0,
    ...timeouts,
    ...connections,
    onProblem,
  });
  const url = `http://127.0.0.1:${listening.port}`;

  const send = async (method: string, path: string, { headers = {}, body }: { headers?: Record<string, string>; body?: unknown } = {}) => {
    const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body);
    const type = text === undefined ? {} : { 'Content-Type': 'application/json' };
    const response = await fetch(url + path, {
      method,
      headers: { ...type, ...headers },
      ...(text !== undefined && { body: text }),
    });
    const answered = await response.text();
    return { status: response.status, headers: response.headers, body: (answered ? JSON.parse(answered) : undefined) as Record<string, unknown> };
  }; // prettier-ignore
  const as =
    (role: string) =>
    (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
      send(method, path, { headers: { 'X-API-Key': role, ...headers }, ...(body !== undefined && { body }) });
  return { ...recorded, url, port: listening.port, send, as, close: () => listening.close(100) };
}
