import { splitSignature } from '@svc/contract';
import { sha256 } from '@svc/identity';
import type { AttestedDelivery } from './attestation';
import type { WorkerTrustRepository } from './worker-trust.repository';

/** Longer than the time for which a signature is valid, before and after now. */
const KEEP_MS = 10 * 60_000;
const MAX_REMEMBERED = 250_000;
/** Collects the checks of packets that arrive together into one call of Redis. */
const BATCH_MS = 2;

interface Waiting {
  key: string;
  resolve(isNew: boolean): void;
  reject(error: unknown): void;
}

/**
 * Detects signed packets that were seen before. Heartbeats and handshakes reach every process, so each remembers its own;
 * progress reports are shared by the schedulers, so these are remembered in Redis, many in one call. Results need no memory:
 * they count once, for the dispatch that they name, and the bus may redeliver them.
 */
export class ReplayGuard {
  private recent = new Set<string>();
  private older = new Set<string>();
  private rotatedAtMs = 0;
  private batch: Waiting[] = [];

  constructor(
    private readonly trust: Pick<WorkerTrustRepository, 'rememberPackets'>,
    private readonly clock: { nowMs(): number },
  ) {}

  /** @param delivery with a valid signature */
  isReplay({ packet, bytes }: AttestedDelivery): boolean | Promise<boolean> {
    if (packet.kind === 'job_result') return false;
    const { signature } = splitSignature(bytes) ?? { signature: new Uint8Array() };
    const key = `${packet.sender_id}:${sha256(getNonce(signature).toString('base64'))}`;
    return packet.kind === 'job_progress' ? this.isShared(key).then((isNew) => !isNew) : this.isKnown(key);
  }

  private isKnown(key: string): boolean {
    const nowMs = this.clock.nowMs();
    if (nowMs - this.rotatedAtMs > KEEP_MS || this.recent.size >= MAX_REMEMBERED) {
      this.older = this.recent;
      this.recent = new Set();
      this.rotatedAtMs = nowMs;
    }
    if (this.recent.has(key) || this.older.has(key)) return true;
    this.recent.add(key);
    return false;
  }

  private isShared(key: string): Promise<boolean> {
    return new Promise((resolve, reject) => {
      if (this.batch.push({ key, resolve, reject }) === 1) setTimeout(() => void this.send(), BATCH_MS);
    });
  }

  private async send(): Promise<void> {
    const batch = this.batch.splice(0);
    try {
      const isNew = await this.trust.rememberPackets(
        batch.map(({ key }) => key),
        KEEP_MS,
      );
      batch.forEach(({ resolve }, i) => resolve(isNew[i] ?? false));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}

/**
 * The `r` of an ECDSA signature in DER, which differs for each signature of a key. The signature itself does not identify a
 * packet: anyone can turn a valid (r, s) into another valid one, (r, n - s).
 */
function getNonce(signature: Uint8Array): Buffer {
  const rLength = signature[3] ?? 0;
  return Buffer.from(signature.subarray(4, 4 + rLength));
}
