/** Whether a value, or any string nested in it, is a secret reference. Depth is bounded by the body parser. */
export function refersToSecret(value: unknown): boolean {
  if (typeof value === 'string') return value.startsWith('secret://');
  if (value === null || typeof value !== 'object') return false;
  return Object.values(value).some(refersToSecret);
}

interface Marked {
  labels: Record<string, string>;
  risk_tags: string[];
}

/**
 * Adds the risk tag `secrets` and the label `secrets_present` when an input refers to a secret.
 * See docs/reference/jobs.md#submit-a-job.
 */
export function markSecrets<Request extends Marked>(request: Request, ...inputs: readonly unknown[]): Request {
  if (!inputs.some(refersToSecret)) return request;
  return {
    ...request,
    risk_tags: [...new Set([...request.risk_tags, 'secrets'])],
    labels: { ...request.labels, secrets_present: 'true' },
  };
}
