import { createPublicKey, type KeyObject } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { entitlementName, mergeEntitlements, tiers, type Entitlements, type Plan } from './entitlements';
import { readLicense, type LicensePayload } from './license-file';

/** An unset variable is an empty string. See docs/operations.md#license. */
export interface LicenseSettings {
  /** SVC_LICENSE_FILE. */
  file: string;
  /** SVC_LICENSE_TOKEN: the JSON or its base64. */
  token: string;
  /** SVC_LICENSE_PUBLIC_KEY: PEM, or the 32 bytes in base64 or hexadecimal. */
  publicKey: string;
  /** SVC_LICENSE_PUBLIC_KEY_PATH. */
  publicKeyPath: string;
  /** Standard locations: user config folder, home folder, /etc/svc/license.json. */
  standardPaths: readonly string[];
}

export type LicenseStatus = 'active' | 'warning' | 'grace' | 'degraded' | 'fallback';

export interface LicenseState {
  status: LicenseStatus;
  /** The plan in effect, after degradation. */
  plan: Plan;
  entitlements: Entitlements;
  /** The license that was read, in any state; absent without a license, or when it could not be read. */
  payload?: LicensePayload;
  /** Reason for the fallback, for the operator. */
  problem?: string;
}

export interface License {
  state(): LicenseState;
  /** Entitlements in effect now. */
  entitlements(): Entitlements;
  /** Covers `features.<name>` and flags. */
  hasFeature(name: string): boolean;
  /** Reads the sources again; an invalid license is reported in the state. */
  reload(): LicenseState;
}

const dayMs = 86_400_000;
const warningDays = 30;
const evaluateEveryMs = 60_000;

/**
 * The license in effect. A license never stops the service: without a valid one it runs as Community. The state is evaluated
 * at start, on reload and every minute.
 */
export function openLicense(settings: LicenseSettings, { nowMs }: { nowMs(): number }): License {
  let source = readSource(settings);
  let state = evaluate(source, nowMs());
  let evaluatedAtMs = nowMs();
  const current = () => {
    if (nowMs() - evaluatedAtMs >= evaluateEveryMs) {
      evaluatedAtMs = nowMs();
      state = evaluate(source, evaluatedAtMs);
    }
    return state;
  };
  return {
    state: current,
    entitlements: () => current().entitlements,
    hasFeature(name) {
      const wanted = entitlementName(name);
      const { features, ...flags } = current().entitlements;
      return (
        features[wanted] === true || Object.entries(flags).some(([flag, value]) => flag === wanted && value === true)
      );
    },
    reload() {
      source = readSource(settings);
      evaluatedAtMs = nowMs();
      state = evaluate(source, evaluatedAtMs);
      return state;
    },
  };
}

type Source = { kind: 'none' } | { kind: 'license'; payload: LicensePayload } | { kind: 'bad'; problem: string };

function readSource(settings: LicenseSettings): Source {
  try {
    const text = licenseText(settings);
    if (text === undefined) return { kind: 'none' };
    const key = licenseKey(settings);
    if (!key) return { kind: 'bad', problem: 'no public key to verify the license: set SVC_LICENSE_PUBLIC_KEY' };
    return { kind: 'license', payload: readLicense(text, key) };
  } catch (cause) {
    return { kind: 'bad', problem: cause instanceof Error ? cause.message : String(cause) };
  }
}

function licenseText({ file, token, standardPaths }: LicenseSettings): string | undefined {
  if (file) return readFileSync(file, 'utf8');
  if (token) return token;
  const path = standardPaths.find((candidate) => existsSync(candidate));
  return path === undefined ? undefined : readFileSync(path, 'utf8');
}

function licenseKey({ publicKey, publicKeyPath }: LicenseSettings): KeyObject | undefined {
  const written = (publicKey || (publicKeyPath && readFileSync(publicKeyPath, 'utf8'))).trim();
  if (!written) return undefined;
  if (written.includes('BEGIN')) return createPublicKey(written.replaceAll('\\n', '\n'));
  const raw = Buffer.from(written, /^[0-9a-fA-F]{64}$/.test(written) ? 'hex' : 'base64');
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') }, format: 'jwk' });
}

function evaluate(source: Source, nowMs: number): LicenseState {
  const community = { plan: 'community', entitlements: tiers.community } as const;
  if (source.kind === 'none') return { status: 'active', ...community };
  if (source.kind === 'bad') return { status: 'fallback', ...community, problem: source.problem };
  const { payload } = source;
  const { plan, notBeforeMs = 0, expiresAtMs = Infinity, graceDays } = payload;
  if (nowMs < notBeforeMs)
    return { status: 'fallback', ...community, payload, problem: 'the license is not yet valid' };
  if (nowMs >= expiresAtMs + graceDays * dayMs) return { status: 'degraded', ...community, payload };
  const left = (expiresAtMs - nowMs) / dayMs;
  const status = left <= 0 ? 'grace' : left <= warningDays ? 'warning' : 'active';
  return { status, plan, entitlements: mergeEntitlements(plan, payload.entitlements), payload };
}
