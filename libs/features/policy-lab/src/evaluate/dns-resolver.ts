import type { Resolution } from '@svc/policy';
import { Resolver } from 'node:dns/promises';

const keptMs = 300_000;
const MAX_KEPT = 2_048;
const timeoutMs = 2_000;

/** DNS errors for a name that does not exist, as opposed to a failed query. */
const absent = new Set(['ENOTFOUND', 'ENODATA']);

export type Resolve = (host: string) => Promise<Resolution>;

/**
 * Resolves names through DNS only, ignoring the machine's hosts file. Answers are cached for 5 min, failures are not.
 * See docs/reference/policy.md#action-checks.
 */
export function openResolver(nowMs: () => number, servers: readonly string[] = []): Resolve {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 1 });
  if (servers.length > 0) resolver.setServers(servers);
  const kept = new Map<string, { answer: Resolution; untilMs: number }>();
  return async (host) => {
    const known = kept.get(host);
    if (known && known.untilMs > nowMs()) return known.answer;
    const answer = await lookUp(resolver, host);
    if (answer.kind === 'failed') return answer;
    kept.delete(host);
    kept.set(host, { answer, untilMs: nowMs() + keptMs });
    const [oldest] = kept.keys();
    if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
    return answer;
  };
}

async function lookUp(resolver: Resolver, host: string): Promise<Resolution> {
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  if (addresses.length > 0) return { kind: 'addresses', addresses };
  const isAbsent = answers.every((answer) => answer.status === 'rejected' && absent.has(getErrorCode(answer.reason)));
  return { kind: isAbsent ? 'no_address' : 'failed' };
}

const getErrorCode = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
