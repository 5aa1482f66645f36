import { useRedisStore } from '@svc/fixtures/store';
import { keys } from '@svc/store';
import { eventually, selfSigned } from '@svc/testing';
import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { Webhook } from 'standardwebhooks';
import { Sealer } from '../chain/sealer';
import { ExportStateRepository } from './export-state.repository';
import { Exporter, type ExporterDeps } from './exporter';
import { datadogReceiver, splunkReceiver, webhookReceiver } from './http-receiver';
import type { Receiver } from './receiver';
import { syslogReceiver } from './syslog-receiver';

const use = useRedisStore();
const origin = { host: 'node-1', process: 'engine-1' };
const secret = 'whsec_' + Buffer.from('a key of the webhook, 32 bytes!!').toString('base64');
const open: Server[] = [];
afterEach(() => Promise.all(open.splice(0).map((server) => new Promise((done) => server.close(done)))));

interface Got {
  headers: IncomingHttpHeaders;
  url: string;
  body: string;
}

/** A receiver of HTTP requests; `answer` decides the status. */
async function startHttp(answer: (body: string) => number = () => 200) {
  const got: Got[] = [];
  const server = createServer((req, res) => {
    const parts: Buffer[] = [];
    req.on('data', (part: Buffer) => parts.push(part));
    req.on('end', () => {
      const body = Buffer.concat(parts).toString();
      const status = answer(body);
      if (status < 300) got.push({ headers: req.headers, url: req.url ?? '', body });
      res.writeHead(status).end();
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  open.push(server);
  return { got, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/in?key=1` };
}

const clock = { ms: 0, nowMs: () => clock.ms };
const http = { clock, origin, production: false };
beforeEach(() => void (clock.ms = Date.now()));

async function record(tenant: string, reasons: readonly string[]): Promise<void> {
  for (const reason of reasons)
    await use.store.audit.record(tenant, { event_type: 'safety.violation', action: 'a', severity: 'HIGH', reason });
  await new Sealer(use.store.audit).seal();
}
const names = (from: number, count: number) => Array.from({ length: count }, (_, i) => `r${from + i}`);

function exporter(receiver: Receiver, more: Partial<ExporterDeps> = {}) {
  const seen = { delivered: 0, dead: [] as string[], lost: 0, pending: 0, unavailable: [] as string[] };
  const state = new ExportStateRepository(use.store.redis, 'webhook');
  const run = new Exporter({
    store: use.store.audit,
    state,
    receiver,
    clock,
    maxRetries: 3,
    isEntitled: () => true,
    onDelivered: (events) => void (seen.delivered += events),
    onDead: ({ event }, reason) => void seen.dead.push(`${event.id.split('-')[1]} ${reason}`),
    onLost: (_tenant, events) => void (seen.lost += events),
    onPending: (events) => void (seen.pending = events),
    onUnavailable: (reason) => void seen.unavailable.push(reason),
    ...more,
  });
  return { run, seen, state };
}

const reasonsIn = (got: readonly Got[], tenant = 'acme') =>
  got
    .flatMap(({ body }) => JSON.parse(body) as { tenant_id: string; reason: string }[])
    .filter(({ tenant_id }) => tenant_id === tenant)
    .map(({ reason }) => reason);

describe('the exporter', () => {
  it('delivers every event once, those of a chain in their order, at most 100 at a time', async () => {
    const { got, url } = await startHttp();
    await record('acme', names(0, 150));
    await record('globex', names(0, 30));
    const { run, seen } = exporter(webhookReceiver(http, url, undefined));

    await run.run();
    await run.run();

    expect(reasonsIn(got)).toEqual(names(0, 150));
    expect(reasonsIn(got, 'globex')).toEqual(names(0, 30));
    expect(Math.max(...got.map(({ body }) => (JSON.parse(body) as unknown[]).length))).toBeLessThanOrEqual(100);
    expect(seen).toMatchObject({ delivered: 180, lost: 0, pending: 0, dead: [] });
  });

  it('signs requests, as Standard Webhooks and over the body', async () => {
    const { got, url } = await startHttp();
    await record('acme', ['a']);

    await exporter(webhookReceiver(http, url.replace('http://', 'http://ann:p%40ss@'), secret)).run.run();

    const [{ headers, body, url: target } = { headers: {}, body: '', url: '' }] = got;
    const signed = createHmac('sha256', secret).update(body).digest('hex');
    expect(headers['x-svc-signature']).toBe(`sha256=${signed}`);
    expect(headers['x-svc-timestamp']).toBe(String(Math.floor(clock.ms / 1_000)));
    expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toMatchObject([{ reason: 'a', seq: 1 }]);
    expect(() => new Webhook(secret).verify(`${body} `, headers as Record<string, string>)).toThrow();
    expect(headers.authorization).toBe(`Basic ${Buffer.from('ann:p@ss').toString('base64')}`);
    expect(target).toBe('/in?key=1');
  }); // prettier-ignore

  it('retries an unavailable receiver after 1, 2, 4 and then every 30 s, and loses nothing', async () => {
    let status = 503;
    const { got, url } = await startHttp(() => status);
    await record('acme', names(0, 3));
    const { run, seen, state } = exporter(webhookReceiver(http, url, undefined));

    const waits: number[] = [];
    for (let attempts = 0; attempts < 5;) {
      await run.run();
      if (seen.unavailable.length === attempts) clock.ms += 1_000;
      else waits.push(clock.ms);
      attempts = seen.unavailable.length;
    }
    expect(waits.map((ms, i) => (ms - (waits[i - 1] ?? ms)) / 1_000)).toEqual([0, 1, 2, 4, 30]);
    expect(seen).toMatchObject({ pending: 3, dead: [], delivered: 0 });
    expect(await state.progress()).toMatchObject({ pending: 3, lastError: 'the receiver answered 503' });
    await record('acme', names(3, 2));
    status = 200;
    clock.ms += 30_000;
    await run.run();

    expect(reasonsIn(got)).toEqual(names(0, 5));
    expect(await state.progress()).toMatchObject({ pending: 0, lastError: '', lastSuccessAt: expect.any(String) });
  });

  it('resumes after a crash: an event whose delivery was not noted is repeated, none is left out', async () => {
    const { got, url } = await startHttp();
    await record('acme', names(0, 5));
    const receiver = webhookReceiver(http, url, undefined);
    const dying = exporter(receiver);
    const crash = jest.spyOn(dying.state, 'delivered').mockRejectedValueOnce(new Error('killed'));
    await expect(dying.run.run()).rejects.toThrow('killed');
    expect(crash).toHaveBeenCalledTimes(1);
    await record('acme', names(5, 2));

    await exporter(receiver).run.run();

    expect(reasonsIn(got)).toEqual([...names(0, 5), ...names(0, 7)]);
    await exporter(receiver).run.run();
    expect(got).toHaveLength(2);
  });

  it('puts only the refused event into the dead letters, with its reason, and continues after it', async () => {
    const { got, url } = await startHttp((body) => (body.includes('"r5"') ? 422 : 200));
    await record('acme', names(0, 20));
    const { run, seen, state } = exporter(webhookReceiver(http, url, undefined));

    for (let i = 0; i < 12; i++) {
      await run.run();
      clock.ms += 8_000;
    }

    expect(reasonsIn(got)).toEqual(names(0, 20).filter((name) => name !== 'r5'));
    expect(seen.dead).toEqual(['6 the receiver answered 422']);
    expect(await state.progress()).toMatchObject({ deadLetters: 1, pending: 0 });
    const [[, fields = []] = []] = await use.store.redis.xrange(keys.auditExportDead('webhook'), '-', '+');
    expect(fields).toEqual(expect.arrayContaining(['tenant', 'acme', 'reason', 'the receiver answered 422']));
    expect(fields.join()).toContain('"reason":"r5"');
  });

  it('counts what retention removed before it was delivered', async () => {
    const { got, url } = await startHttp();
    await record('acme', names(0, 2));
    const { run, seen } = exporter(webhookReceiver(http, url, undefined));
    await run.run();
    await record('acme', names(2, 5));
    const [, , third, fourth] = await use.store.audit.range('acme', '-', '+', 10);
    await use.store.redis.xdel(keys.auditChain('acme'), third?.id ?? '', fourth?.id ?? '');

    await run.run();

    expect(seen.lost).toBe(2);
    expect(reasonsIn(got)).toEqual(['r0', 'r1', 'r4', 'r5', 'r6']);
  });

  it('delivers nothing without the entitlement, and everything after it was granted', async () => {
    const { got, url } = await startHttp();
    await record('acme', ['a']);
    let entitled = false;
    const { run, seen } = exporter(webhookReceiver(http, url, undefined), { isEntitled: () => entitled });

    await run.run();
    expect([got.length, seen.pending]).toEqual([0, 1]);
    entitled = true;
    await run.run();
    expect(reasonsIn(got)).toEqual(['a']);
  });
});

describe('receivers', () => {
  it('Splunk: events for the HTTP Event Collector, with its token', async () => {
    const { got, url } = await startHttp();
    await record('acme', ['a', 'b']);

    await exporter(splunkReceiver(http, { url, token: 'tok', index: 'audit' })).run.run();

    const events = got[0]?.body.split('\n').map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(got[0]?.headers.authorization).toBe('Splunk tok');
    expect(events).toMatchObject([
      { host: 'node-1', sourcetype: 'svc:audit', index: 'audit', time: expect.any(Number), event: { reason: 'a', seq: 1 } },
      { event: { reason: 'b' } },
    ]);
  }); // prettier-ignore

  it('Datadog: entries for the logs intake, with its key', async () => {
    const { got, url } = await startHttp();
    await record('acme', ['a']);

    await exporter(datadogReceiver(http, { url, apiKey: 'key', service: 'svc' })).run.run();

    expect(got[0]?.headers['dd-api-key']).toBe('key');
    expect(JSON.parse(got[0]?.body ?? '')).toMatchObject([
      { ddsource: 'svc-control-plane', service: 'svc', hostname: 'node-1', status: 'error', audit: { reason: 'a' } },
    ]);
  });

  it.each(['tcp', 'tls'] as const)('syslog over %s: RFC 5424 messages framed by their length', async (scheme) => {
    const { cert, key } = selfSigned('localhost');
    const texts: string[] = [];
    const onSocket = (socket: NodeJS.ReadableStream) => {
      const parts: Buffer[] = [];
      socket.on('data', (part: Buffer) => parts.push(part));
      socket.on('error', () => undefined);
      socket.on('end', () => texts.push(Buffer.concat(parts).toString()));
    };
    const server = scheme === 'tls' ? createTlsServer({ cert, key }, onSocket) : createTcpServer(onSocket);
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    open.push(server);
    const { port } = server.address() as AddressInfo;
    await record('acme', ['ä', 'two\nlines']);
    const target = { host: 'localhost', port, tls: scheme === 'tls', origin };

    await exporter(syslogReceiver({ ...target, ca: cert })).run.run();
    await eventually(() => Promise.resolve(texts.length === 1));

    let rest = Buffer.from(texts[0] ?? '');
    const messages: string[] = [];
    while (rest.length > 0) {
      const space = rest.indexOf(' ');
      const length = Number(rest.subarray(0, space).toString());
      messages.push(rest.subarray(space + 1, space + 1 + length).toString());
      rest = rest.subarray(space + 1 + length);
    }
    const read = messages.map((message) =>
      /^<(\d+)>1 (\d{4}-\d\d-\d\dT[\d:.]+Z) (\S+) (\S+) (\S+) (\S+) - (\{.*\})$/s.exec(message),
    );
    expect(read.map((found) => [found?.[1], ...(found?.slice(3, 7) ?? [])])).toEqual(
      Array(2).fill(['107', 'node-1', 'svc-control-plane', 'engine-1', 'safety.violation']),
    );
    expect(read.map((found) => (JSON.parse(found?.[7] ?? '') as { reason: string }).reason)).toEqual(['ä', 'two\nlines']);
    if (scheme === 'tls') {
      const refused = await syslogReceiver(target).deliver([]);
      expect(refused).toEqual({ kind: 'unavailable', reason: expect.stringMatching(/^the connection failed \(/) });
    }
  }); // prettier-ignore

  it('syslog: a receiver that is not there, or never closes, is unavailable', async () => {
    const sockets: { destroy(): unknown }[] = [];
    const silent = createTcpServer({ allowHalfOpen: true }, (socket) => void sockets.push(socket.resume()));
    await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done));
    const { port } = silent.address() as AddressInfo;
    const target = { host: '127.0.0.1', port, tls: false, origin, timeoutMs: 200 };
    await record('acme', ['a']);
    const events = await use.store.audit.range('acme', '-', '+', 1);

    expect(await syslogReceiver(target).deliver(events)).toMatchObject({ kind: 'unavailable' });
    sockets.forEach((socket) => socket.destroy());
    await new Promise((done) => silent.close(done));
    expect(await syslogReceiver(target).deliver(events)).toEqual({
      kind: 'unavailable',
      reason: 'the connection failed (ECONNREFUSED)',
    });
  });
});
