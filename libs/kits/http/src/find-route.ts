import type { Endpoint } from '@svc/contract';
import findMyWay, { type HTTPMethod } from 'find-my-way';

/** The route of a request's method and path. */
export type RouteMatch<T> =
  { kind: 'route'; target: T; params: Record<string, string> } | { kind: 'none' } | { kind: 'bad_path' };

/**
 * Finds the route of a request, with decoded path parameters. Declared routes bypass Express, whose objects and handler
 * chain cost several times the rest of the request; ADR 0007.
 */
export function routeFinder<T>(
  targets: readonly { endpoint: Endpoint; target: T }[],
): (method: string, path: string) => RouteMatch<T> {
  const router = findMyWay({
    ignoreTrailingSlash: true,
    // Declarations bound parameters; validation reports a longer one.
    maxParamLength: 16_384,
    onBadUrl: () => undefined,
  });
  const none = { kind: 'none' } as const;
  for (const { endpoint, target } of targets) {
    router.on(endpoint.method.toUpperCase() as HTTPMethod, endpoint.path, () => undefined, target);
  }
  return (method, path) => {
    // HEAD is served as GET; Node omits the body.
    const found = router.find((method === 'HEAD' ? 'GET' : method) as HTTPMethod, path);
    if (!found) return none;
    // Only routes registered above have a target.
    if (found.store === null) return { kind: 'bad_path' };
    return { kind: 'route', target: found.store as T, params: found.params as Record<string, string> };
  };
}
