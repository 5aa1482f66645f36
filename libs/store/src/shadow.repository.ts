import { sha256 } from '@svc/audit-chain';
import type { ShadowHead } from '@svc/contract';
import type { Redis } from 'ioredis';
import { describeAct } from './audit-scope';
import { keys } from './keys';
import { luaJson } from './lua-json';
import { auditOnly, type KeptSnapshots } from './policy.repository';
import { runScript } from './scripts';

/** A shadow policy without its text. See docs/reference/policy.md#shadow-policies. */
export interface StoredShadowHead extends ShadowHead {
  metadata: Readonly<Record<string, string>>;
  /** Size of its text. */
  bytes: number;
}
export interface StoredShadow extends StoredShadowHead {
  content: string;
}

export interface ShadowWrite {
  /** Id of the shadow policy that was read; '' for none. */
  read: string;
  /** Absent = end the shadow policy. */
  shadow?: StoredShadow;
  audit: NonNullable<KeptSnapshots['audit']>;
}

/** Shadow policies, one per tenant and bundle. */
export class ShadowRepository {
  constructor(private readonly redis: Redis) {}

  /** Compare-and-set. @returns whether it was written; if not, no audit entry was written either */
  async write(tenant: string, bundle: string, { read, shadow, audit }: ShadowWrite): Promise<boolean> {
    const { content = '', ...head } = shadow ?? {};
    const hash = shadow ? { content_hash: sha256(content) } : {};
    describeAct({}, { after_hash: hash.content_hash ?? '' });
    const texts = [tenant, bundle, read, shadow ? luaJson({ ...head, ...hash }) : '', content];
    const reply = await runScript(this.redis, 'writeShadow', keys.shadows(tenant), ...texts, ...auditOnly(audit));
    return (reply as [string])[0] === 'written';
  }

  async head(tenant: string, bundle: string): Promise<StoredShadowHead | undefined> {
    const text = await this.redis.hget(keys.shadows(tenant), bundle);
    return text ? parseHead(text) : undefined;
  }

  async get(tenant: string, bundle: string): Promise<StoredShadow | undefined> {
    const [[, head] = [], [, content] = []] =
      (await this.redis.multi().hget(keys.shadows(tenant), bundle).hget(keys.shadowContents(tenant), bundle).exec()) ??
      [];
    if (typeof head !== 'string' || typeof content !== 'string') return undefined;
    return { ...parseHead(head), content };
  }

  /** Shadow policies of one tenant. */
  async ofTenant(tenant: string): Promise<StoredShadowHead[]> {
    return (await this.redis.hvals(keys.shadows(tenant))).map(parseHead);
  }

  /** Shadow policies of all tenants. */
  async all(): Promise<StoredShadowHead[]> {
    const tenants = await this.redis.smembers(keys.shadowTenants());
    return (await Promise.all(tenants.map((tenant) => this.ofTenant(tenant)))).flat();
  }
}

/** Without the hash of the text, which the script that replaces it records. */
function parseHead(text: string): StoredShadowHead {
  const { content_hash: _, ...head } = JSON.parse(text) as StoredShadowHead & { content_hash?: string };
  return head;
}
