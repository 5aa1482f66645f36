import { isRecord } from '@svc/json';
import { verify, type KeyObject } from 'node:crypto';
import { plans, type Plan } from './entitlements';

/** A license with a valid signature. See docs/operations.md#license. */
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
  /** Days after expiry during which the license stays in effect; 0 = none. */
  graceDays: number;
  rights: Readonly<Record<string, unknown>> | null;
  entitlements: Readonly<Record<string, unknown>>;
}

/**
 * Reads a license (JSON, or JSON in base64) and verifies its signature over the payload bytes as written.
 *
 * @throws Error with the reason the license is invalid
 */
export function readLicense(text: string, publicKey: KeyObject): LicensePayload {
  const trimmed = text.trim();
  const json = trimmed.startsWith('{') ? trimmed : Buffer.from(trimmed, 'base64').toString('utf8');
  const file = asObject(parse(json, 'the license'), 'the license');
  const signed = memberText(json, 'payload');
  const signature = file['signature'];
  if (signed === undefined || typeof signature !== 'string')
    throw new Error('the license has no payload or no signature');
  const bytes = Buffer.from(signature.replace(/^ed25519:/, ''), 'base64');
  if (!verify(null, Buffer.from(signed), publicKey, bytes)) throw new Error('the license signature does not match');
  // Parsed from the verified bytes, so a second `payload` in the file is ignored.
  return readPayload(asObject(parse(signed, 'the payload'), 'the payload'));
}

function readPayload(payload: Record<string, unknown>): LicensePayload {
  if ('features' in payload || 'limits' in payload) {
    throw new Error('the license has the old format (features or limits at the top level); request a new one');
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
    ...readTime(payload, 'issued_at', 'issuedAtMs'),
    ...readTime(payload, 'not_before', 'notBeforeMs'),
    ...readTime(payload, 'expires_at', 'expiresAtMs'),
    graceDays: typeof grace === 'number' && grace !== 0 ? Math.max(0, Math.floor(grace)) : 14,
    rights: typeof rights === 'object' && rights !== null ? { ...rights } : null,
    entitlements: asObject(payload['entitlements'] ?? {}, 'entitlements'),
  };
}

/** RFC 3339, or Unix seconds as a string or number. An invalid time is an error: it must not make a license unlimited. */
function readTime<Field extends string>(
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
 * Returns the text of a top-level member of a valid JSON object without whitespace between tokens and otherwise as written:
 * the text that the issuer signed. Parsing and serializing would reorder number-like keys and rewrite numbers.
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
