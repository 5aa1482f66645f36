import { generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export type LicensePlan = 'community' | 'team' | 'enterprise';

export interface LicenseFiles {
  file: string;
  publicKey: string;
}

const dayMs = 86_400_000;
const validDays = 3_650;
/** With 30 days or less a license reports that it expires soon. */
const renewDays = 60;

/** The stack's license of that plan and the key to check it with, issued again when missing or about to expire. */
export function ensureLicense(dir: string, plan: LicensePlan, nowMs: number): LicenseFiles {
  const files = { file: join(dir, `${plan}.json`), publicKey: join(dir, `${plan}.pub.pem`) };
  if (existsSync(files.publicKey) && endsMs(files.file) > nowMs + renewDays * dayMs) return files;
  const { license, publicKey } = issueLicense(plan, nowMs);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  writeFileSync(files.publicKey, publicKey);
  writeFileSync(files.file, license);
  return files;
}

/** The signing key is discarded. See docs/operations.md#license. */
export function issueLicense(plan: LicensePlan, nowMs: number): { license: string; publicKey: string } {
  const keys = generateKeyPairSync('ed25519');
  const payload = {
    org_id: 'local',
    license_id: randomUUID(),
    plan,
    deployment_type: 'self_hosted',
    issued_at: new Date(nowMs).toISOString(),
    not_before: new Date(nowMs - dayMs).toISOString(),
    expires_at: new Date(nowMs + validDays * dayMs).toISOString(),
    entitlements: {},
  };
  // The signature covers the payload without whitespace, as JSON.stringify prints it.
  const signature = sign(null, Buffer.from(JSON.stringify(payload)), keys.privateKey).toString('base64');
  return {
    license: `${JSON.stringify({ kid: 'local-stack', payload, signature: `ed25519:${signature}` }, null, 2)}\n`,
    publicKey: keys.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  };
}

function endsMs(file: string): number {
  try {
    const { payload } = JSON.parse(readFileSync(file, 'utf8')) as { payload: { expires_at: string } };
    return Date.parse(payload.expires_at);
  } catch {
    return 0; // missing or truncated: written again
  }
}
