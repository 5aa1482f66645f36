import { limits, type TenantScope, type WorkerCredentialView } from '@svc/contract';
import { canonicalHash } from '@svc/json';
import { describeAct, keys, runScript } from '@svc/store';
import type { Redis } from 'ioredis';

/** A credential as it is stored. */
export type StoredCredential = Omit<WorkerCredentialView, 'revoked_at'>;

/** What is stored of a token. */
export interface StoredToken {
  /** Argon2id hash of the token as PHC string. */
  credential_hash: string;
  /**
   * First 32 bits of the token's SHA-256. Other tokens are refused by it, so that guesses cost no argon2; it does not help
   * to guess a token of 256 random bits.
   */
  token_check: string;
  /** Bcrypt hash, for nats-server. '' in credentials of older versions, whose workers get no users until it is replaced. */
  nats_hash: string;
  /** SHA-256 in hexadecimal, for Redis. '' like `nats_hash`. */
  redis_digest: string;
}

/** The trust facts of one worker. */
export interface WorkerTrustRecord {
  credential: StoredCredential;
  token: StoredToken;
  revokedAt?: string;
  /** The agent that it acts for is suspended or revoked. */
  isAgentStopped?: boolean;
  session?: WorkerSession;
}

/** The session of a worker, as stored. */
export interface WorkerSession {
  /** Id of its token. */
  jti: string;
  exp_ms: number;
  issued_ms: number;
  /** Id of the token before it, and when that one ends. */
  previous?: string;
  previous_ms?: number;
  revoked?: boolean;
  /** Capabilities that the worker declared when it proved its key; absent for none. */
  capabilities?: string[];
}

export interface SessionIssue {
  workerId: string;
  jti: string;
  expiresAtMs: number;
  nowMs: number;
  /** End of the token before it. */
  previousUntilMs: number;
  /** Id of the token that is renewed; it must be the current one. */
  renewed?: string | undefined;
  capabilities?: readonly string[];
}

/** A challenge for a worker. */
export interface NewChallenge {
  workerId: string;
  /** Of the request, in base64. */
  nonce: string;
  id: string;
  /** The challenge, in base64. */
  text: string;
}

export interface CredentialWrite {
  credential: StoredCredential;
  /** Undefined: the worker keeps its token. */
  token: StoredToken | undefined;
  /** Of the license; 0 or less = unlimited. */
  maxWorkers: number;
}

export type CredentialOutcome =
  | { kind: 'created' | 'replaced' | 'missing' | 'other_tenant' }
  | { kind: 'full'; count: number }
  | { kind: 'tenant_full'; count: number };

export type RevokeOutcome = 'revoked' | 'unchanged' | 'missing' | 'other_tenant';

/** Characters of the SHA-256 of a token that are stored with its credential: 32 bits. */
export const TOKEN_CHECK_CHARS = 8;

/** How long a challenge is open. */
export const CHALLENGE_MS = 60_000;
/** Challenges of one worker within this time. A worker of the SDK asks every five seconds while it gets no session. */
const MAX_CHALLENGES = 20;
/** Challenges of all workers in a second, which bounds the work that handshakes cause on all schedulers together. */
const MAX_CHALLENGES_OF_ALL = 200;

/** Longer than the time for which a signature is valid, before and after now. */
export const PACKETS_KEPT_MS = 10 * 60_000;
/** Packets of one worker that are remembered in Redis. */
const MAX_PACKETS = 2_048;

/** Workers per read, which bounds the time for which a read blocks Redis. */
const BATCH_SIZE = 500;

/** Worker credentials in Redis. See docs/adr/0024-trust-of-workers.md. */
export class WorkerTrustRepository {
  constructor(private readonly redis: Redis) {}

  async write(scope: TenantScope, { credential, token, maxWorkers }: CredentialWrite): Promise<CredentialOutcome> {
    const { worker_id: id, tenant_id: tenant } = credential;
    const secret = token ? writeToken(token) : '';
    const hash = canonicalHash(credential);
    const args = [
      id,
      scope,
      tenant,
      JSON.stringify(credential),
      secret,
      maxWorkers,
      limits.tenantWorkerCredentials,
      hash,
    ];
    describeAct({}, { after_hash: hash });
    const reply = await runScript(this.redis, 'writeWorkerCredential', keys.workerCredentials(), ...args);
    const [kind, count] = reply as [CredentialOutcome['kind'], string?];
    return kind === 'full' || kind === 'tenant_full' ? { kind, count: Number(count) } : { kind };
  }

  /** @param now ISO 8601 */
  async revoke(scope: TenantScope, workerId: string, now: string): Promise<RevokeOutcome> {
    const reply = await runScript(this.redis, 'revokeWorkerCredential', keys.workerCredentials(), workerId, scope, now);
    return (reply as [RevokeOutcome])[0];
  }

  /** Number of changes so far. A record that is read later contains at least these. */
  async version(): Promise<number> {
    // A pipeline of its own: while Redis hangs, an automatic one would delay requests by its time-out, since ioredis sends
    // the next automatic pipeline only after the one before has ended.
    const [[error, version] = [null, null]] = (await this.redis.pipeline().get(keys.workerTrustVersion()).exec()) ?? [];
    if (error) throw error;
    return Number(version ?? 0);
  }

  /** Workers that changed after a version. */
  changedSince(version: number): Promise<string[]> {
    return this.redis.zrangebyscore(keys.workerTrustChanges(), `(${version}`, '+inf');
  }

  /** Ids of the workers with a credential of a tenant. */
  idsOf(tenant: string): Promise<string[]> {
    return this.redis.smembers(keys.workerCredentialsOf(tenant));
  }

  /** Ids of all workers with a credential. */
  allIds(): Promise<string[]> {
    return this.redis.hkeys(keys.workerCredentials());
  }

  /** The records of these workers; those without a credential are absent. */
  async records(ids: readonly string[]): Promise<Map<string, WorkerTrustRecord>> {
    const found = new Map<string, WorkerTrustRecord>();
    for (let at = 0; at < ids.length; at += BATCH_SIZE) {
      const some = ids.slice(at, at + BATCH_SIZE);
      const [credentials, tokens, sessions, revoked] = await Promise.all([
        this.redis.hmget(keys.workerCredentials(), ...some),
        this.redis.hmget(keys.workerTokens(), ...some),
        this.redis.hmget(keys.workerSessions(), ...some),
        this.redis.hmget(keys.workerCredentialsRevoked(), ...some),
      ]);
      const stopped = await this.stoppedAgents(credentials);
      some.forEach((id, i) => {
        const [text, revokedAt] = [credentials[i], revoked[i]];
        if (!text) return;
        const credential = JSON.parse(text) as StoredCredential;
        const session = sessions[i] ? (JSON.parse(sessions[i]) as WorkerSession) : undefined;
        const token = readToken(tokens[i] ?? '');
        const isAgentStopped = stopped.has(agentKey(credential));
        found.set(id, {
          credential,
          token,
          ...(session && { session }),
          ...(revokedAt && { revokedAt }),
          ...(isAgentStopped && { isAgentStopped }),
        });
      });
    }
    return found;
  }

  /** Agents of these credentials that are registered in the tenant of the credential, and not active. */
  private async stoppedAgents(credentials: readonly (string | null)[]): Promise<ReadonlySet<string>> {
    const named = new Set(
      credentials.flatMap((text) => {
        const key = text ? agentKey(JSON.parse(text) as StoredCredential) : '';
        return key ? [key] : [];
      }),
    );
    const isStopped = await Promise.all(
      [...named].map(async (key) => {
        const [id = '', tenant] = key.split('\n');
        const [status, owner] = await this.redis.hmget(keys.agent(id), 'status', 'tenant');
        return owner === tenant && status !== null && status !== 'active';
      }),
    );
    return new Set([...named].filter((_, i) => isStopped[i]));
  }

  /** SHA-256 of the token that was verified against a credential, if some process has done so. */
  async verifiedDigest(workerId: string, fingerprint: string): Promise<string | undefined> {
    const text = await this.redis.hget(keys.workerTokensVerified(), workerId);
    const [of, digest] = text?.split(':') ?? [];
    return of === fingerprint ? digest : undefined;
  }

  /** @returns whether the session was issued: the credential is valid, and a renewed token is the current one */
  async issueSession(issue: SessionIssue): Promise<boolean> {
    const { workerId, jti, expiresAtMs, nowMs, previousUntilMs, renewed = '', capabilities = [] } = issue;
    const args = [workerId, jti, expiresAtMs, nowMs, previousUntilMs, renewed, ...capabilities];
    const reply = await runScript(this.redis, 'issueWorkerSession', keys.workerSessions(), ...args);
    return (reply as [string])[0] === 'issued';
  }

  async revokeSession(
    scope: TenantScope,
    workerId: string,
  ): Promise<{ kind: 'revoked'; tenant: string } | { kind: 'missing' | 'other_tenant' }> {
    const reply = await runScript(this.redis, 'revokeWorkerSession', keys.workerSessions(), workerId, scope);
    const [kind, tenant = ''] = reply as ['revoked' | 'missing' | 'other_tenant', string?];
    return kind === 'revoked' ? { kind, tenant } : { kind };
  }

  /** Opens the only challenge of a worker. @param nonce of the request, in base64 */
  async openChallenge({ workerId, nonce, id, text }: NewChallenge): Promise<'opened' | 'repeated' | 'limited'> {
    const limits = [CHALLENGE_MS, MAX_CHALLENGES, MAX_CHALLENGES_OF_ALL];
    const args = [workerId, nonce, id, text, ...limits];
    const reply = await runScript(this.redis, 'openChallenge', keys.handshakeChallenge(workerId), ...args);
    return (reply as ['opened' | 'repeated' | 'limited'])[0];
  }

  /** Uses a challenge up. `missing`: it was used, has expired, or a newer one replaced it; `changed`: its text is another. */
  async takeChallenge(workerId: string, id: string, text: string): Promise<'taken' | 'missing' | 'changed'> {
    const reply = await runScript(this.redis, 'takeChallenge', keys.handshakeChallenge(workerId), id, text);
    return (reply as ['taken' | 'missing' | 'changed'])[0];
  }

  /**
   * Remembers a signed packet, for all processes.
   *
   * @param id of the packet, unique to its worker
   * @param sentMs time of the packet
   * @returns whether it was received before, or is older than what is remembered of a worker that sends very many
   */
  async isPacketKnown(workerId: string, id: string, sentMs: number): Promise<boolean> {
    const args = [id, Math.floor(sentMs), PACKETS_KEPT_MS, MAX_PACKETS];
    const reply = await runScript(this.redis, 'rememberPacket', keys.packetsSeen(workerId), ...args);
    return (reply as [string])[0] === 'seen';
  }

  /** Lets other processes, and this one after a restart, verify the token without argon2. */
  async keepVerified(workerId: string, fingerprint: string, digest: string): Promise<void> {
    // Written after a replacement, it names the replaced credential and is ignored.
    await this.redis.hset(keys.workerTokensVerified(), workerId, `${fingerprint}:${digest}`);
  }
}

const writeToken = ({ token_check, credential_hash, nats_hash, redis_digest }: StoredToken): string =>
  [token_check, credential_hash, nats_hash, redis_digest].join(' ');

function readToken(text: string): StoredToken {
  const [token_check = '', credential_hash = '', nats_hash = '', redis_digest = ''] = text.split(' ');
  return { token_check, credential_hash, nats_hash, redis_digest };
}
const agentKey = ({ agent_id, tenant_id }: StoredCredential): string => (agent_id ? `${agent_id}\n${tenant_id}` : '');
