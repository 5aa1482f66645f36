import { AppError, dataUrlEnv, type DataPurpose } from '@svc/contract';
import { createSecretKey, type KeyObject } from 'node:crypto';
import { sign, TokenExpiredError, verify } from 'jsonwebtoken';

/** Grant of a data URL: one purpose, for one dispatch of one job to one worker. */
export interface DataGrant {
  purpose: DataPurpose;
  jobId: string;
  dispatchId: string;
  workerId: string;
  tenant: string;
}

export interface DataTokens {
  sign(grant: DataGrant, expiresAtMs: number): string;
  /** @throws data_url_invalid, data_url_expired */
  verify(token: string, nowMs: number): DataGrant;
}

/** Rejects every other kind of token that is signed with HS256. */
const AUDIENCE = 'svc:data-url';
const ALGORITHM = 'HS256';

/** Signs and verifies the tokens of data URLs. The library compares digests in constant time. */
export function openDataTokens(secret: string): DataTokens {
  const key = createSecretKey(Buffer.from(secret, 'utf8'));
  return {
    sign({ purpose, jobId, dispatchId, workerId, tenant }, expiresAtMs) {
      const exp = Math.floor(expiresAtMs / 1_000);
      const claims = { aud: AUDIENCE, exp, purpose, job: jobId, dispatch: dispatchId, worker: workerId, tenant };
      return sign(claims, key, { algorithm: ALGORITHM, noTimestamp: true });
    },
    verify: (token, nowMs) => toGrant(verifiedClaims(token, key, nowMs)),
  };
}

function verifiedClaims(token: string, key: KeyObject, nowMs: number): Record<string, unknown> {
  try {
    const clockTimestamp = Math.floor(nowMs / 1_000);
    const claims = verify(token, key, { algorithms: [ALGORITHM], audience: AUDIENCE, clockTimestamp });
    if (typeof claims === 'object' && typeof claims.exp === 'number') return claims;
  } catch (error) {
    // The library checks the signature first, so a forged token is never reported as expired.
    if (error instanceof TokenExpiredError) throw new AppError('data_url_expired');
  }
  throw new AppError('data_url_invalid');
}

function toGrant({ purpose, job, dispatch, worker, tenant }: Record<string, unknown>): DataGrant {
  const texts = [job, dispatch, worker, tenant];
  if (!isPurpose(purpose) || !texts.every((text) => typeof text === 'string' && text !== '')) {
    throw new AppError('data_url_invalid');
  }
  const [jobId, dispatchId, workerId, tenantName] = texts as [string, string, string, string];
  return { purpose, jobId, dispatchId, workerId, tenant: tenantName };
}

const isPurpose = (value: unknown): value is DataPurpose =>
  typeof value === 'string' && Object.hasOwn(dataUrlEnv, value);
