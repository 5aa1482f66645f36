import { Health } from './health';
import { startProbeServer, type ProbeServer } from './probe-server';

describe('the probe server', () => {
  const health = new Health({ clock: { nowMs: () => 0 } });
  const errors: unknown[] = [];
  let metricsText: () => Promise<string> = async () => 'svc_up 1\n';
  let server: ProbeServer;
  beforeAll(async () => {
    server = await startProbeServer({
      addr: { host: '127.0.0.1', port: 0 },
      health,
      metrics: { contentType: 'text/plain; version=0.0.4', text: () => metricsText() },
      onError: (error) => errors.push(error),
    });
  });
  afterAll(() => server.close());
  const get = async (path: string, method = 'GET') => {
    const res = await fetch(`${server.url}${path}`, { method });
    return { status: res.status, type: res.headers.get('content-type'), body: await res.text() };
  };

  it('serves the probes', async () => {
    expect(await get('/healthz')).toMatchObject({ status: 200, type: 'application/json' });
    expect(await get('/livez')).toMatchObject({ status: 503 });
    expect(await get('/readyz?verbose')).toMatchObject({ status: 503 });

    health.started();

    expect(await get('/livez')).toMatchObject({ status: 200 });
    expect(JSON.parse((await get('/readyz')).body)).toEqual({ status: 'ok', checks: {} });
  });

  it('serves metrics', async () => {
    expect(await get('/metrics')).toEqual({ status: 200, type: 'text/plain; version=0.0.4', body: 'svc_up 1\n' });
  });

  it('404 for other paths, 405 for other methods', async () => {
    expect(await get('/admin')).toMatchObject({ status: 404 });
    expect(await get('/metrics', 'POST')).toMatchObject({ status: 405 });
  });

  it('500 without details, and the error is reported', async () => {
    metricsText = () => Promise.reject(new Error('defect'));

    expect(await get('/metrics')).toMatchObject({ status: 500, body: 'internal error\n' });
    expect(errors).toEqual([new Error('defect')]);
  });

  it('binds to loopback in production', async () => {
    const loopback = await startProbeServer({
      addr: { host: '', port: 0 }, health, metrics: { contentType: 'text/plain', text: async () => '' }, onError: () => undefined,
      loopbackInProduction: { production: true, open: false },
    }); // prettier-ignore

    expect(loopback.address.host).toBe('127.0.0.1');
    await loopback.close();
  });

  it('rejects when the port is in use', async () => {
    const taken = startProbeServer({
      addr: server.address,
      health,
      metrics: { contentType: '', text: metricsText },
      onError: () => undefined,
    });

    await expect(taken).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });
});
