import { AppError, everyTenant } from '@svc/contract';
import type { MemoryClaim, Store } from '@svc/store';
import type { EffectiveConfig } from '@svc/settings';
import { matchesGlob } from '../memory-access';

type Config = Pick<EffectiveConfig, 'installation'>;

/** The claim on a memory that the accepting script records for the tenant. @throws memory_policy_unreadable */
export async function memoryClaim(config: Config, id: string): Promise<MemoryClaim> {
  return { id, shared: await isShared(config, id) };
}

/** Only the installation can share a memory among tenants: `context.shared_memory_ids` of system/default. */
async function isShared(config: Config, id: string): Promise<boolean> {
  const context = (await config.installation())?.['context'];
  const globs = (context as Record<string, unknown> | null | undefined)?.['shared_memory_ids'] ?? [];
  if (!Array.isArray(globs) || !globs.every((glob) => typeof glob === 'string')) {
    throw new AppError('memory_policy_unreadable');
  }
  return globs.some((glob) => matchesGlob(glob, id));
}

/** The tenant that owns a memory: of the run or job in its id, else of its first use; undefined before any use. */
export async function findMemoryOwner({ runs, jobs, data }: Store, id: string): Promise<string | undefined> {
  if (id.startsWith('run:')) {
    const run = await runs.head(everyTenant, id.slice('run:'.length));
    if (run.kind === 'found') return run.value.tenant;
  }
  return (await jobs.load(id))?.tenant ?? (await data.memoryOwner(id));
}

/**
 * Rejects a memory that another tenant owns.
 *
 * @throws memory_policy_violation, memory_policy_unreadable
 */
export async function requireMemory(store: Store, config: Config, tenant: string, id: string): Promise<void> {
  const owner = await findMemoryOwner(store, id);
  if (owner === undefined || owner === tenant || (await isShared(config, id))) return;
  throw new AppError('memory_policy_violation', { memory_id: id });
}
