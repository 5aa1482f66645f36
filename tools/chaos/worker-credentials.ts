import { generateKeyPairSync } from 'node:crypto';
import { eventually } from '@svc/testing';
import { WorkerTrustRepository } from '@svc/worker-trust';
import type { World } from './world';

/** Variables of services that attest workers, and give them sessions. */
export const attestationEnv = { WORKER_ATTESTATION: 'enforce', SVC_SDK_HANDSHAKE: 'warn' };

/** Longer than the pauses of a worker whose handshakes were rejected. */
const sessionWithinMs = 90_000;

/** The credentials of the workers of one pool, in a world that attests them. */
export class WorkerCredentials {
  /** Public keys (PEM) of the workers on the SDK, by worker. */
  private readonly keys = new Map<string, string>();

  constructor(
    private readonly world: World,
    private readonly pool: string,
  ) {}

  /** Workers that prove a key of theirs. */
  get ids(): readonly string[] {
    return [...this.keys.keys()];
  }

  /** Gives workers on the SDK a credential with a key each. @returns their further variables, by worker */
  async withKeys(ids: readonly string[]): Promise<ReadonlyMap<string, NodeJS.ProcessEnv>> {
    const envs = new Map<string, NodeJS.ProcessEnv>();
    for (const id of ids) {
      const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      this.keys.set(id, publicKey.export({ type: 'spki', format: 'pem' }).toString());
      await this.write(id);
      envs.set(id, {
        WORKER_SIGNING_KEY: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
        SVC_SERVICE_PUBLIC_KEYS: this.world.serviceKey,
      });
    }
    return envs;
  }

  /** Creates the credential of a worker, or writes it again after it was revoked. @returns its token */
  write(id: string): Promise<string> {
    const key = this.keys.get(id);
    return this.world.client('admin').writeCredential(id, this.pool, key === undefined ? [] : [key]);
  }

  async revoke(id: string): Promise<void> {
    await this.world.client('admin').revokeCredential(id);
  }

  /** Resolves when every worker with a key has a session that is not revoked. @throws Error with those that have none */
  async allHaveSessions(): Promise<void> {
    const trust = new WorkerTrustRepository(this.world.store.redis);
    await eventually(
      async () => {
        const records = await trust.records(this.ids);
        const hasSession = (id: string) => records.get(id)?.session?.revoked === undefined && records.get(id)?.session;
        const without = this.ids.filter((id) => !hasSession(id));
        if (without.length > 0) throw new Error(`no session: ${without.join(', ')}`);
      },
      { withinMs: sessionWithinMs, everyMs: 200 },
    );
  }
}
