import type { Server } from '@grpc/grpc-js';
import type { Health } from '@svc/runtime';
import { HealthImplementation } from 'grpc-health-check';

const everyMs = 1_000;

/**
 * `grpc.health.v1.Health`, for the whole server (empty name) and for each service: SERVING while `/readyz` would say so.
 * It needs no credentials. See docs/reference/http.md#grpc.
 *
 * @returns a function that stops the checks and sets NOT_SERVING
 */
export function addHealth(server: Server, health: Health, services: readonly string[]): () => void {
  const names = ['', ...services];
  const implementation = new HealthImplementation(Object.fromEntries(names.map((name) => [name, 'NOT_SERVING'])));
  implementation.addToServer(server);
  let ended = false;
  const setServing = (isServing: boolean) => {
    for (const name of names) implementation.setStatus(name, isServing ? 'SERVING' : 'NOT_SERVING');
  };
  const checkHealth = () =>
    health.readyz().then(
      ({ status }) => setServing(!ended && status === 200),
      () => setServing(false),
    );
  void checkHealth();
  const timer = setInterval(() => void checkHealth(), everyMs);
  timer.unref();
  return () => {
    ended = true;
    clearInterval(timer);
    setServing(false);
  };
}
