import type { AuditEvent, AuditSeverity } from '@svc/contract';

/** An event as the chain stores it: canonical JSON, and what was computed from it. */
export interface StoredText {
  text: string;
  /** SHA-256 of the text, hex. */
  hash: string;
  /** '' without a key. */
  hmac: string;
}

/** Fields that filters and control mappings need, read from the text without parsing it. */
export interface EventFacts {
  type: string;
  action: string;
  /** '' when policy decided nothing. */
  decision: string;
  severity: AuditSeverity;
}

/*
 * The text is canonical JSON: keys in order, and a quotation mark inside a value is escaped. So `"event_type":"` occurs only as
 * a key, its first occurrence is that of the event (`extra`, the only nested object, comes later), and `decision` precedes it.
 */
export function readFacts(text: string): EventFacts {
  const typeAt = text.indexOf('"event_type":"');
  const decisionAt = text.indexOf('"decision":"');
  const severityAt = text.lastIndexOf(',"severity":"');
  return {
    type: readString(text, typeAt + 13),
    action: text.startsWith('{"action":"') ? readString(text, 10) : '',
    decision: decisionAt >= 0 && decisionAt < typeAt ? readString(text, decisionAt + 11) : '',
    severity: readString(text, severityAt + 12) as AuditSeverity,
  };
}

/** @param at position of the opening quotation mark */
function readString(text: string, at: number): string {
  let end = text.indexOf('"', at + 1);
  if (text[end - 1] !== '\\') return text.slice(at + 1, end);
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return JSON.parse(text.slice(at, end + 1)) as string;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text[at - 1 - backslashes] === '\\') backslashes += 1;
  return backslashes % 2 === 1;
}

const secretName = /secret|token|password|api[_-]?key|private[_-]?key/i;

/**
 * Keys of `extra` that name secrets, which no copy of an event contains, in case a writer recorded one. Almost always none.
 */
export function secretKeys(text: string): string[] {
  // Cheap enough to run on every event; a word in a value is only a reason to parse.
  if (!secretName.test(text)) return [];
  const { extra = {} } = JSON.parse(text) as Pick<AuditEvent, 'extra'>;
  return Object.keys(extra).filter((key) => secretName.test(key));
}

/** The text without these keys of `extra`, which are listed in `redacted`; its hash is then no longer that of the event. */
function withoutKeys(text: string, keys: readonly string[]): string {
  const { extra = {}, ...event } = JSON.parse(text) as AuditEvent;
  const kept = Object.entries(extra).filter(([key]) => !keys.includes(key));
  return JSON.stringify({
    ...event,
    ...(kept.length > 0 && { extra: Object.fromEntries(kept) }),
    redacted: keys,
  });
}

/**
 * The event as JSON for readers outside, with its hashes. The stored text is passed on as it is, because parsing costs more than
 * everything else.
 *
 * @param more further fields, each `"name":<json>` with a leading comma
 */
export function eventJson({ text, hash, hmac }: StoredText, more = ''): string {
  const hidden = secretKeys(text);
  const shown = hidden.length > 0 ? withoutKeys(text, hidden) : text;
  return `${shown.slice(0, -1)},"event_hash":"${hash}"${hmac && `,"hmac":"${hmac}"`}${more}}`;
}

/** The parsed event, with its hashes and without secrets. */
export type ShownEvent = Omit<AuditEvent, 'event_type'> & { event_type: string; redacted?: string[] };

export const shownEvent = (stored: StoredText): ShownEvent => JSON.parse(eventJson(stored)) as ShownEvent;
