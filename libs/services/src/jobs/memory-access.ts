import { AppError } from '@svc/contract';

const asList = (value: unknown): string[] => (Array.isArray(value) ? value.filter((v) => typeof v === 'string') : []);

/** Shell-style: `*` any run, `?` one. Linear in the text, since a glob is split at its stars. */
function matchesGlob(glob: string, text: string): boolean {
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
 * Checks a memory id that the client named against `context.denied_memory_ids`, then `allowed_memory_ids`. Core contract
 * 2.2 check 9: skipped when config has no context section.
 *
 * @throws memory_policy_violation
 */
export function checkMemoryAccess(config: Record<string, unknown> | undefined, memoryId: string | undefined): void {
  const context = config?.['context'] as Record<string, unknown> | undefined;
  if (!context || memoryId === undefined) return;
  const denied = asList(context['denied_memory_ids']).some((glob) => matchesGlob(glob, memoryId));
  const allowed = asList(context['allowed_memory_ids']);
  if (denied || (allowed.length > 0 && !allowed.some((glob) => matchesGlob(glob, memoryId)))) {
    throw new AppError('memory_policy_violation', { memory_id: memoryId });
  }
}
