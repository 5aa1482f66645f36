import { isRecord } from '@svc/json';
interface InputDocument {
  prompt?: unknown;
  context?: unknown;
}

/** The JSON document that content rules read: the fields of the context at the top level, and always `prompt`. */
export const buildPolicyContent = (prompt: string, context: unknown): string =>
  JSON.stringify(isRecord(context) ? { ...context, prompt } : { context, prompt });

/** The same from an input document; a missing document is an empty prompt. */
export const toPolicyContent = (document: InputDocument | null): string =>
  buildPolicyContent(typeof document?.prompt === 'string' ? document.prompt : '', document?.context);

/** The same from a stored input. Jobs that enter on the bus may have an input that is not JSON: it is read as plain text. */
export function readPolicyContent(stored: Buffer | null): string {
  if (!stored) return toPolicyContent(null);
  const text = stored.toString('utf8');
  try {
    return toPolicyContent(JSON.parse(text) as InputDocument);
  } catch {
    return text;
  }
}
