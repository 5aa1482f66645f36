import { isRecord } from '@svc/json';
import { verify, type KeyObject } from 'node:crypto';
import { plans, type Plan } from './entitlements';

/** A license whose signature holds. See docs/operations.md#license. */
export interface LicensePayload {
  plan: Plan;
  org_id: string;
  license_id: string;
  deployment_type: string;
  install_id: string;
  cluster_id: string;
  /** Milliseconds since 1970; absent = unbounded. */
  issuedAtMs?: number;
  notBeforeMs?: number;
  expiresAtMs?: number;
  /** Days after the end in which everything still holds; 0 = none. */
  graceDays: number;
  rights: Readonly<Record<string, unknown>> | null;
  entitlements: Readonly<Record<string, unknown>>;
}

/**
 * Reads a license (its JSON, or that in base64) and checks its signature over the payload's own bytes.
 *
 * @throws Error that says what is wrong with it
 */
export function readLicense(text: string, publicKey: KeyObject): LicensePayload {
  const trimmed = text.trim();
  const json = trimmed.startsWith('{') ? trimmed : Buffer.from(trimmed, 'base64').toString('utf8');
  const file = asObject(parse(json, 'the license'), 'the license');
  const signed = memberText(json, 'payload');
  const signature = file['signature'];
  if (signed === undefined || typeof signature !== 'string') throw new Error('the license lacks payload or signature');
  const bytes = Buffer.from(signature.replace(/^ed25519:/, ''), 'base64');
  if (!verify(null, Buffer.from(signed), publicKey, bytes)) throw new Error('the license signature does not match');
  // Parsed from the bytes that were verified: a second `payload` in the file cannot slip in.
  return readPayload(asObject(parse(signed, 'the payload'), 'the payload'));
}

function readPayload(payload: Record<string, unknown>): LicensePayload {
  if ('features' in payload || 'limits' in payload) {
    throw new Error('the license has the old layout (features or limits beside the plan); ask for a new one');
  }
  const text = (name: string): string => (typeof payload[name] === 'string' ? payload[name] : '');
  const grace = payload['grace_days'];
  const rights = payload['rights'];
  return {
    plan: plans.find((plan) => plan === text('plan').toLowerCase()) ?? 'community',
    org_id: text('org_id'),
    license_id: text('license_id'),
    deployment_type: text('deployment_type'),
    install_id: text('install_id'),
    cluster_id: text('cluster_id'),
    ...timeOf(payload, 'issued_at', 'issuedAtMs'),
    ...timeOf(payload, 'not_before', 'notBeforeMs'),
    ...timeOf(payload, 'expires_at', 'expiresAtMs'),
    graceDays: typeof grace === 'number' && grace !== 0 ? Math.max(0, Math.floor(grace)) : 14,
    rights: typeof rights === 'object' && rights !== null ? { ...rights } : null,
    entitlements: asObject(payload['entitlements'] ?? {}, 'entitlements'),
  };
}

/** RFC 3339, or unix seconds as text or number. A time that cannot be read must not make a license endless. */
function timeOf<Field extends string>(
  payload: Record<string, unknown>,
  name: string,
  field: Field,
): { [F in Field]?: number } {
  const value = payload[name] ?? '';
  if (value === '') return {};
  const written = typeof value === 'number' || typeof value === 'string' ? String(value).trim() : '';
  const ms = /^\d+$/.test(written) ? Number(written) * 1_000 : Date.parse(written);
  if (Number.isNaN(ms)) throw new Error(`${name} of the license is not a time`);
  return { [field]: ms } as { [F in Field]?: number };
}

function parse(json: string, what: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch (cause) {
    throw new Error(`${what} is not valid JSON`, { cause });
  }
}

function asObject(value: unknown, what: string): Record<string, unknown> {
  if (isRecord(value)) return { ...value };
  throw new Error(`${what} is not a JSON object`);
}

/**
 * The text of a top-level member of a valid JSON object with the whitespace between tokens removed and all else as written,
 * which is what the issuer signed. Parsing and printing again would reorder number-like keys and rewrite numbers.
 */
function memberText(json: string, name: string): string | undefined {
  const compact = json.replace(/("(?:[^"\\]|\\.)*")|\s+/g, '$1');
  const tokens = /"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s{}[\]:,"]+/g;
  let depth = 0;
  let start: number | undefined;
  let key = '';
  for (let match = tokens.exec(compact); match; match = tokens.exec(compact)) {
    const [token] = match;
    const ends = depth === 1 && (token === ',' || token === '}');
    if (ends && start !== undefined) return compact.slice(start, match.index);
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    else if (depth === 1 && token === ':' && key === name) start ??= match.index + 1;
    else if (depth === 1 && start === undefined && token.startsWith('"')) key = JSON.parse(token) as string;
  }
  return undefined;
}
