import { Health, NotReady } from './health';

const at = '2026-01-02T00:00:00.000Z';
function healthAt() {
  const time = { nowMs: Date.parse(at) };
  const changes: string[] = [];
  const clock = { nowMs: () => time.nowMs };
  const health = new Health({
    clock,
    limitMs: 20,
    onChange: ({ name, ok }) => changes.push(`${name} ${ok ? 'back' : 'lost'}`),
  });
  return { health, time, changes };
}

describe('a probe', () => {
  it('healthz: 200 regardless of dependencies', () => {
    const { health } = healthAt();
    health.dependsOn('redis', () => Promise.reject(new Error('down')));

    expect(health.healthz()).toEqual({ status: 200, body: { status: 'ok', checks: { process: 'ok' } } });
  });

  it('livez: 503 initializing, then 200 complete, also while draining', () => {
    const { health } = healthAt();
    expect(health.livez()).toEqual({ status: 503, body: { status: 'degraded', checks: { startup: 'initializing' } } });

    health.started();
    health.drain();

    expect(health.livez()).toEqual({ status: 200, body: { status: 'ok', checks: { startup: 'complete' } } });
  });

  it('readyz: 200 when started and every dependency responds', async () => {
    const { health } = healthAt();
    health.dependsOn('redis', async () => 'PONG');
    expect((await health.readyz()).status).toBe(503);

    health.started();

    expect(await health.readyz()).toEqual({ status: 200, body: { status: 'ok', checks: { redis: 'ok' } } });
  });

  it('readyz: 503 names each unavailable dependency and since when, without connection details', async () => {
    const { health, time } = healthAt();
    health.started();
    health.dependsOn('redis', () => Promise.reject(new Error('ECONNREFUSED 10.0.0.1:6379')));
    health.dependsOn('policy', () => Promise.reject(new NotReady('no policy loaded')));
    await health.readyz();
    time.nowMs += 5_000;

    expect(await health.readyz()).toEqual({
      status: 503,
      body: {
        status: 'degraded',
        checks: { redis: `unavailable, since ${at}`, policy: `no policy loaded, since ${at}` },
      },
    });
  });

  it('readyz: 503 when a dependency does not respond', async () => {
    const { health } = healthAt();
    health.started();
    health.dependsOn('nats', () => new Promise(() => undefined));

    expect((await health.readyz()).body.checks.nats).toMatch(/^no answer within 20 ms/);
  });

  it('readyz: 503 while draining', async () => {
    const { health } = healthAt();
    health.started();

    health.drain();

    expect(await health.readyz()).toEqual({
      status: 503,
      body: { status: 'degraded', checks: { shutdown: 'draining' } },
    });
  });
});

it('reports the loss and the recovery of a dependency once each', async () => {
  const { health, changes } = healthAt();
  let isUp = false;
  health.dependsOn('redis', async () => {
    if (!isUp) throw new Error('down');
  });

  await health.report();
  await health.report();
  isUp = true;
  await health.report();
  await health.report();

  expect(changes).toEqual(['redis lost', 'redis back']);
});

it('concurrent probes share one check of a slow dependency', async () => {
  const { health } = healthAt();
  let asked = 0;
  health.dependsOn('redis', async () => void (asked += 1));

  await Promise.all(Array.from({ length: 10 }, () => health.readyz()));

  expect(asked).toBe(1);
});
