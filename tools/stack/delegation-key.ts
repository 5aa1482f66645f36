import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensurePolicyKey } from './policy-key';

/** The key of this data folder that signs delegation tokens, created once so that they stay valid: PKCS #8 in base64. */
export function ensureDelegationKey(dataDir: string): string {
  const { file } = ensurePolicyKey(join(dataDir, 'delegation-key.pem'));
  return createPrivateKey(readFileSync(file)).export({ type: 'pkcs8', format: 'der' }).toString('base64');
}

/** The variable of the gateway, unless the caller sets it. */
export const delegationVariables = (key: string, callers: NodeJS.ProcessEnv): Record<string, string> =>
  callers['SVC_DELEGATION_PRIVATE_KEY'] === undefined ? { SVC_DELEGATION_PRIVATE_KEY: key } : {};
