import type { Endpoint } from '@svc/contract';
import findMyWay, { type HTTPMethod } from 'find-my-way';

/** What a request's method and path lead to. */
export type Found<T> =
  { kind: 'route'; target: T; params: Record<string, string> } | { kind: 'none' } | { kind: 'bad_path' };

/**
 * Finds what a request asks for, with the parameters of its path decoded. Declared routes do not go through Express, whose
 * objects and chain of handlers cost a request several times what the gate does; ADR 0007.
 */
export function routeFinder<T>(
  targets: readonly { endpoint: Endpoint; target: T }[],
): (method: string, path: string) => Found<T> {
  const router = findMyWay({
    ignoreTrailingSlash: true,
    // Declarations bound what they take; a longer one is told so by validation.
    maxParamLength: 16_384,
    onBadUrl: () => undefined,
  });
  const none = { kind: 'none' } as const;
  for (const { endpoint, target } of targets) {
    router.on(endpoint.method.toUpperCase() as HTTPMethod, endpoint.path, () => undefined, target);
  }
  return (method, path) => {
    // What HEAD asks for is the answer to GET, of which Node sends the head alone.
    const found = router.find((method === 'HEAD' ? 'GET' : method) as HTTPMethod, path);
    if (!found) return none;
    // Only what was registered above carries a target.
    if (found.store === null) return { kind: 'bad_path' };
    return { kind: 'route', target: found.store as T, params: found.params as Record<string, string> };
  };
}
