import type { AuditAct } from '@svc/contract';
import { keys, runScript, luaJson } from '@svc/store';
import type { Redis } from 'ioredis';

/** The SCIM token as it is stored: by its SHA-256, since it has 256 random bits. */
interface StoredScimToken {
  digest: string;
  mask: string;
  revision: number;
  /** Digest of the token before it; '' without one. */
  previous: string;
  /** Time until which that one is valid, ms. */
  previousUntilMs: number;
}

interface TokenWrite extends Omit<StoredScimToken, 'revision'> {
  /** The revision as it was read; 0 = there was none. */
  expected: number;
  act: AuditAct;
}

const fields = ['digest', 'mask', 'revision', 'previous', 'previous_until'] as const;

/** The SCIM token of the installation. */
export class TokenRepository {
  constructor(private readonly redis: Redis) {}

  async get(): Promise<StoredScimToken | undefined> {
    const [digest, mask, revision, previous, until] = await this.redis.hmget(keys.scimToken(), ...fields);
    if (!digest) return undefined;
    return {
      digest,
      mask: mask ?? '',
      revision: Number(revision),
      previous: previous ?? '',
      previousUntilMs: Number(until ?? 0),
    };
  }

  /** Compare-and-set on the revision. */
  async write(tenant: string, token: TokenWrite): Promise<'written' | 'changed'> {
    const { expected, digest, mask, previous, previousUntilMs, act } = token;
    const args = [tenant, expected, digest, mask, previous, previousUntilMs, luaJson(act)];
    const [kind] = (await runScript(this.redis, 'writeScimToken', keys.scimToken(), ...args)) as [
      'written' | 'changed',
    ];
    return kind;
  }
}
