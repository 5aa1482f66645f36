import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensurePolicyKey } from './policy-key';

/** What the audit chains are signed with, and the file of their anchors. */
export interface AuditKeys {
  signingKeyFile: string;
  hmacKey: string;
  anchorFile: string;
}

/** The keys of this data folder, created once so that chains can be verified after a restart. */
export function ensureAuditKeys(dataDir: string): AuditKeys {
  const hmacFile = join(dataDir, 'audit-hmac-key');
  const { file } = ensurePolicyKey(join(dataDir, 'audit-key.pem'));
  if (!existsSync(hmacFile)) writeFileSync(hmacFile, randomBytes(32).toString('hex'), { mode: 0o600 });
  return {
    signingKeyFile: file,
    hmacKey: readFileSync(hmacFile, 'utf8').trim(),
    anchorFile: join(dataDir, 'audit-anchors.ndjson'),
  };
}

/** The variables of the services; a caller that sets one for checkpoints sets all of them. */
export function auditVariables(keys: AuditKeys, callers: NodeJS.ProcessEnv): Record<string, string> {
  const isCallers = Object.keys(callers).some((name) => /^SVC_AUDIT_(SIGNING_KEY|PUBLIC_KEY_|ANCHOR_FILE)/.test(name));
  return {
    SVC_AUDIT_HMAC_KEY: keys.hmacKey,
    ...(!isCallers && { SVC_AUDIT_SIGNING_KEY_PATH: keys.signingKeyFile, SVC_AUDIT_ANCHOR_FILE: keys.anchorFile }),
  };
}
