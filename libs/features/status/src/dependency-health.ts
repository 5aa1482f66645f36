import type { Health } from '@svc/runtime';

/** Connection state of bus and store as `/health` reports it. See docs/reference/http.md#probes-and-status. */
export async function dependencyHealth({
  health,
}: {
  health: Health;
}): Promise<{ status: 200 | 503; body: Record<string, string> }> {
  const reports = await health.report();
  const ok = (name: string) => reports.find((report) => report.name === name)?.ok === true;
  const body = {
    status: ok('redis') && ok('nats') ? 'healthy' : 'unhealthy',
    nats: ok('nats') ? 'connected' : 'disconnected',
    redis: ok('redis') ? 'ok' : 'unavailable',
  };
  if (body.status === 'healthy') return { status: 200, body };
  const missing = reports.filter((report) => !report.ok).map(({ name }) => name);
  return { status: 503, body: { ...body, error: `no answer from ${missing.join(', ')}` } };
}
