import type { TenantScope } from '@svc/contract';
import { fingerprint } from '@svc/json';
import type { Redis } from 'ioredis';
import { describeAct } from './audit-scope';
import type { ConfigDocument } from './config.repository';
import type { Keys } from './keys';
import { toPolicyWriteArgs, type KeptSnapshots } from './policy.repository';
import { parseJson, type JsonObject } from './run.record';
import { runScript } from './scripts';

export interface WorkflowWrite {
  tenant: string;
  id: string;
  document: JsonObject;
  /** The current version that was read, 0 = none; the write is rejected if it has changed. */
  expectedVersion?: number;
  /** Displayed author. */
  by: string;
  /** Authenticated identity of the author: key and principal. */
  author?: string;
}

export type WriteWorkflowOutcome =
  | { kind: 'written'; version: number; atUs: number }
  /** The stored definition is equal. */
  | { kind: 'unchanged'; version: number }
  /** The current version differs from the expected one; 0 = none. */
  | { kind: 'changed'; version: number }
  | { kind: 'other_tenant' };

/** One version of a definition, which never changes. Times in µs. */
export interface WorkflowVersion {
  id: string;
  tenant: string;
  version: number;
  document: JsonObject;
  written_at: number;
  written_by: string;
  /** Identity of the author; '' for versions written before it was recorded. */
  author: string;
}

/** The current version, with the creator of the workflow. */
export interface WorkflowRecord extends WorkflowVersion {
  created_at: number;
  created_by: string;
}

/** The new document of the policy bundles, the revision that was read, and its snapshots. */
export interface PolicyPart {
  document: ConfigDocument;
  readRevision: number;
  kept: KeptSnapshots;
}

export type RemoveWorkflowOutcome =
  | { kind: 'removed' }
  | { kind: 'missing' }
  | { kind: 'other_tenant' }
  /** Number of active runs. */
  | { kind: 'busy'; runs: number };

type FindResult<T> = { kind: 'found'; value: T } | { kind: 'missing' } | { kind: 'other_tenant' };

/** Versioned definitions of workflows, as opaque JSON. See docs/reference/workflows.md#definitions. */
export class WorkflowRepository {
  constructor(
    private readonly redis: Redis,
    private readonly keys: Keys,
  ) {}

  /** Atomic: of writers that expect the same version, one wins. @param policy written in the same transaction */
  async write(
    { tenant, id, document, expectedVersion, by, author = '' }: WorkflowWrite,
    policy?: PolicyPart,
  ): Promise<WriteWorkflowOutcome | { kind: 'policy_changed' }> {
    const hash = fingerprint(document);
    describeAct({}, { after_hash: hash });
    const values = [id, tenant, JSON.stringify(document), hash, expectedVersion ?? '', by, author];
    const reply = await this.run('writeWorkflow', id, values, policy);
    const [kind, version = '', at = ''] = reply as [WriteWorkflowOutcome['kind'] | 'policy_changed', string?, string?];
    switch (kind) {
      case 'policy_changed':
        return { kind };
      case 'written':
        return { kind, version: Number(version), atUs: Number(at) };
      case 'unchanged':
      case 'changed':
        return { kind, version: Number(version) };
      case 'other_tenant':
        return { kind };
    }
  }

  /** The current version. */
  async get(scope: TenantScope, id: string): Promise<FindResult<WorkflowRecord>> {
    const fields = ['tenant', 'version', 'document', 'at', 'by', 'author', 'created_at', 'created_by', 'removed_at'];
    const [tenant, version, document, at, by, author, createdAt, createdBy, removedAt] = await this.redis.hmget(
      this.keys.workflow(id),
      ...fields,
    );
    if (!tenant || !document || removedAt) return { kind: 'missing' };
    if (scope !== '*' && scope !== tenant) return { kind: 'other_tenant' };
    const value = {
      ...toVersion({ id, tenant, version: Number(version) }, document, at, by, author),
      created_at: Number(createdAt),
      created_by: createdBy ?? '',
    };
    return { kind: 'found', value };
  }

  /** Any version; of a removed workflow, as long as runs use it. */
  async version(scope: TenantScope, id: string, version: number): Promise<FindResult<WorkflowVersion>> {
    const older = [`document:${version}`, `at:${version}`, `by:${version}`, `author:${version}`];
    const fields = ['tenant', 'version', 'document', 'at', 'by', 'author', ...older];
    const [tenant, newest, ...rest] = await this.redis.hmget(this.keys.workflow(id), ...fields);
    const [document, at, by, author] = Number(newest) === version ? rest : rest.slice(4);
    if (!tenant || !document) return { kind: 'missing' };
    if (scope !== '*' && scope !== tenant) return { kind: 'other_tenant' };
    return { kind: 'found', value: toVersion({ id, tenant, version }, document, at, by, author) };
  }

  /** The newest first; none for a workflow that the caller may not see or that was removed. */
  async versions(scope: TenantScope, id: string, limit: number): Promise<WorkflowVersion[]> {
    const newest = await this.get(scope, id);
    if (newest.kind !== 'found') return [];
    const last = newest.value.version;
    const numbers = Array.from({ length: Math.min(limit, last) }, (_, i) => last - i);
    const versions = await Promise.all(numbers.map((version) => this.version(scope, id, version)));
    return versions.flatMap((version) => (version.kind === 'found' ? [version.value] : []));
  }

  /** Current versions of a tenant's workflows, last updated first. */
  async list(tenant: string, limit: number): Promise<WorkflowRecord[]> {
    const ids = await this.redis.zrevrange(this.keys.workflows(tenant), 0, limit - 1);
    const workflows = await Promise.all(ids.map((id) => this.get(tenant, id)));
    return workflows.flatMap((workflow) => (workflow.kind === 'found' ? [workflow.value] : []));
  }

  /**
   * Removes a workflow. Versions stay readable as long as runs that use them.
   *
   * @param keepSec retention of ended runs; 0 = forever
   * @param when `idle`: only without active runs
   * @param policy written in the same transaction
   */
  async remove(
    scope: TenantScope,
    id: string,
    keepSec: number,
    when: 'always' | 'idle' = 'always',
    policy?: PolicyPart,
  ): Promise<RemoveWorkflowOutcome | { kind: 'policy_changed' }> {
    const reply = await this.run('removeWorkflow', id, [id, scope, keepSec, when], policy);
    const [kind, runs] = reply as [RemoveWorkflowOutcome['kind'] | 'policy_changed', string?];
    return kind === 'busy' ? { kind, runs: Number(runs) } : { kind };
  }

  private run(
    script: 'writeWorkflow' | 'removeWorkflow',
    id: string,
    values: readonly (string | number)[],
    policy: PolicyPart | undefined,
  ): Promise<unknown> {
    if (!policy) return runScript(this.redis, script, this.keys.workflow(id), ...values);
    const { document, readRevision, kept } = policy;
    const place = this.keys.config(document.scope, document.scope_id);
    const replacement = toPolicyWriteArgs(document, readRevision, kept);
    return runScript(
      this.redis,
      'writeWithPolicy',
      this.keys.workflow(id),
      place,
      script,
      values.length,
      ...values,
      ...replacement,
    );
  }
}

type Text = string | null | undefined;

const toVersion = (
  of: Pick<WorkflowVersion, 'id' | 'tenant' | 'version'>,
  document: string,
  at: Text,
  by: Text,
  author: Text,
): WorkflowVersion => ({
  ...of,
  document: parseJson(document),
  written_at: Number(at),
  written_by: by ?? '',
  author: author ?? '',
});
