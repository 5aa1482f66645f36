import { AppError } from '@svc/contract';
import { isRecord } from '@svc/json';
import { splitAllowLists } from '@svc/policy';

/** @throws memory_policy_unreadable: an unreadable list must not allow everything */
function readList(value: unknown): string[] {
  if (Array.isArray(value) && value.every((entry) => typeof entry === 'string')) return value;
  throw new AppError('memory_policy_unreadable');
}

/** Shell-style: `*` any run, `?` one. Linear in the text, since a glob is split at its stars. */
export function matchesGlob(glob: string, text: string): boolean {
  const parts = glob.split('*');
  const same = (part: string, at: number) => [...part].every((char, i) => char === '?' || char === text[at + i]);
  let at = 0;
  for (const [i, part] of parts.entries()) {
    if (i === 0) {
      if (!same(part, 0) || text.length < part.length) return false;
      at = part.length;
      continue;
    }
    if (i === parts.length - 1) {
      const end = text.length - part.length;
      return end >= at && same(part, end);
    }
    while (at + part.length <= text.length && !same(part, at)) at++;
    if (at + part.length > text.length) return false;
    at += part.length;
  }
  return at === text.length;
}

/**
 * Checks a memory id sent by the client against `context.denied_memory_ids`, then `allowed_memory_ids`;
 * skipped when config has no context section. See docs/reference/jobs.md#memory.
 *
 * @throws memory_policy_violation, memory_policy_unreadable when the section is malformed
 */
export function checkMemoryAccess(config: Record<string, unknown> | undefined, memoryId: string | undefined): void {
  const context = config?.['context'];
  if (context === undefined || memoryId === undefined) return;
  if (!isRecord(context)) throw new AppError('memory_policy_unreadable');
  const matches = (list: readonly string[]) => list.some((glob) => matchesGlob(glob, memoryId));
  const denied = readList(context['denied_memory_ids'] ?? []);
  const allowed = splitAllowLists(context['allowed_memory_ids'] ?? []).map(readList);
  if (matches(denied) || !allowed.every((list) => list.length === 0 || matches(list))) {
    throw new AppError('memory_policy_violation', { memory_id: memoryId });
  }
}
