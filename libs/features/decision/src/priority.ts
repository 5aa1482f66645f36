import { defaultSettings } from '@svc/contract';
import type { StoredRequest } from '@svc/store';
import { section } from '@svc/settings';

type Priority = StoredRequest['priority'];

// A map, since a client may well send `constructor`.
const names: ReadonlyMap<string, Priority> = new Map([
  ['interactive', 'interactive'],
  ['normal', 'interactive'],
  ['batch', 'batch'],
  ['low', 'batch'],
  ['critical', 'critical'],
  ['high', 'critical'],
]);

/**
 * The priority of a name, case-insensitive; interactive for an unknown name. A job that names none gets
 * `resources.default_priority` of its config. See docs/reference/messages.md.
 */
export function toPriority(named: string, config: Record<string, unknown> | undefined): Priority {
  const standard: unknown = section(config, 'resources', { ...defaultSettings.resources }).default_priority;
  const name = named === '' ? standard : named;
  return (typeof name === 'string' ? names.get(name.toLowerCase()) : undefined) ?? 'interactive';
}
