import type { Redis } from 'ioredis';
import { createHash } from 'node:crypto';
import type { Keys } from './keys';
import { runScript } from './scripts';

export interface ArtifactMeta {
  content_type?: string;
  size_bytes: number;
  retention: 'short' | 'standard' | 'audit';
  labels: Record<string, string>;
  created_at: string;
  tenant: string;
}

/** The Redis value of a memory pointer. */
export type MemoryValue =
  | { type: 'string'; value: Buffer }
  | { type: 'list' | 'set'; items: Buffer[] }
  | { type: 'hash'; items: Record<string, Buffer> };

const maxMemoryItems = 1_000;
const digestPartBytes = 1_048_576;

/** Keys of inputs and results of jobs. Pointers to any other key are rejected. */
const bodyKey = /^(?:redis:\/\/)?((?:ctx|res):.+)$/s;

/** The key of a pointer to an input or result; undefined for any other key or scheme. */
const toBodyKey = (pointer: string): string | undefined => bodyKey.exec(pointer)?.[1];

const artifactKey = /^redis:\/\/(art:(?!meta:).+)$/s;
const toArtifactKey = (pointer: string): string | undefined => artifactKey.exec(pointer)?.[1];

/** The data plane: bodies addressed by pointers. It does not check tenants; callers authorize access. */
export class DataRepository {
  constructor(
    private readonly redis: Redis,
    private readonly keys: Keys,
    private readonly dataTtlSec: number,
  ) {}

  /**
   * Reads at most `maxBytes` of an input document; null if it does not exist. Pointers of other schemes are never followed
   * and return null.
   */
  async context(pointer: string, maxBytes: number): Promise<Buffer | null> {
    const key = pointer.startsWith('redis://') ? toBodyKey(pointer) : undefined;
    if (key === undefined) return null;
    const body = await this.redis.getrangeBuffer(key, 0, maxBytes - 1);
    return body.length === 0 ? null : body;
  }

  async result(id: string): Promise<Buffer | null> {
    return this.redis.getBuffer(this.keys.result(id));
  }

  /**
   * Reads at most `maxBytes` of an input or result, with its full size; null if it does not exist and for other pointers.
   * An empty body is not null. Callers must check the owner, because pointers come from workers.
   */
  async read(pointer: string, maxBytes: number): Promise<{ body: Buffer; sizeBytes: number } | null> {
    const key = toBodyKey(pointer);
    return key === undefined ? null : this.readKey(key, maxBytes);
  }

  private async readKey(key: string, maxBytes: number): Promise<{ body: Buffer; sizeBytes: number } | null> {
    try {
      const body = await this.redis.getrangeBuffer(key, 0, maxBytes - 1);
      if (body.length === 0) return (await this.redis.exists(key)) === 1 ? { body, sizeBytes: 0 } : null;
      const sizeBytes = body.length < maxBytes ? body.length : await this.redis.strlen(key);
      return { body, sizeBytes };
    } catch (error) {
      // Workers write these keys, so the value may have another type.
      if (error instanceof Error && error.message.startsWith('WRONGTYPE')) return null;
      throw error;
    }
  }

  /**
   * Size and SHA-256 of an input, result or artifact; null if it does not exist and for other pointers. Reads in chunks, so
   * that a large body neither fills memory nor blocks the process.
   *
   * @param maxBytes larger bodies are not hashed
   */
  async digest(pointer: string, maxBytes: number): Promise<{ sizeBytes: number; sha256?: Buffer } | null> {
    const key = toBodyKey(pointer) ?? toArtifactKey(pointer);
    const head = key === undefined ? null : await this.readKey(key, 1);
    if (key === undefined || !head) return null;
    const { sizeBytes } = head;
    if (sizeBytes > maxBytes) return { sizeBytes };
    const hash = createHash('sha256');
    for (let from = 0; from < sizeBytes; from += digestPartBytes) {
      hash.update(await this.redis.getrangeBuffer(key, from, Math.min(from + digestPartBytes, sizeBytes) - 1));
    }
    return { sizeBytes, sha256: hash.digest() };
  }

  /** Stores the redacted copy of a result; equal content gets the same pointer. */
  async writeRedacted(id: string, contentHash: string, body: Buffer): Promise<string> {
    const key = this.keys.redactedResult(id, contentHash.slice(0, 16));
    await this.redis.set(key, body, 'EX', this.dataTtlSec);
    await this.keepIfHeld(key);
    return `redis://${key}`;
  }

  /** Stores a result under a key derived from its content, so that no later write can change it. */
  async writeUploadedResult(id: string, sha256: string, body: Uint8Array): Promise<string> {
    const key = this.keys.uploadedResult(id, sha256);
    await this.redis.set(key, Buffer.from(body), 'EX', this.dataTtlSec);
    await this.keepIfHeld(key);
    return `redis://${key}`;
  }

  async writeContext(id: string, document: string): Promise<void> {
    await this.redis.set(this.keys.context(id), document, 'EX', this.dataTtlSec);
    await this.keepIfHeld(this.keys.context(id));
  }

  async writeArtifact(id: string, body: Buffer, meta: ArtifactMeta, ttlSec: number): Promise<void> {
    await this.redis
      .multi()
      .set(this.keys.artifactMeta(id), JSON.stringify(meta), 'EX', ttlSec)
      .set(this.keys.artifact(id), body, 'EX', ttlSec)
      .exec();
    await this.keepIfHeld(this.keys.artifactMeta(id));
  }

  /** A separate call, because bodies are too large for scripts. After a crash before it, the next sweep keeps the document. */
  private async keepIfHeld(key: string): Promise<void> {
    await runScript(this.redis, 'freezeRecords', key);
  }

  async artifactMeta(id: string): Promise<ArtifactMeta | null> {
    const text = await this.redis.get(this.keys.artifactMeta(id));
    return text ? (JSON.parse(text) as ArtifactMeta) : null;
  }

  async artifactBody(id: string): Promise<Buffer | null> {
    return this.redis.getBuffer(this.keys.artifact(id));
  }

  /** The tenant of the first use of a memory; undefined if unused, and for memories named after a job or run. */
  async memoryOwner(id: string): Promise<string | undefined> {
    return (await this.redis.get(this.keys.memoryOwner(id))) ?? undefined;
  }

  /** The value of a `mem:` key of any type; null if it does not exist. */
  async memory(key: string): Promise<MemoryValue | null> {
    const type = await this.redis.type(key);
    switch (type) {
      case 'string': {
        const value = await this.redis.getBuffer(key);
        return value && { type, value };
      }
      case 'list':
        return { type, items: await this.redis.lrangeBuffer(key, -maxMemoryItems, -1) };
      case 'set':
        return { type, items: (await this.redis.smembersBuffer(key)).slice(0, maxMemoryItems) };
      case 'hash':
        return { type, items: await this.redis.hgetallBuffer(key) };
      default:
        return null;
    }
  }
}
