/** Roles that groups of a provider map to, the highest first. */
export const groupRoles = ['admin', 'operator', 'viewer'] as const;
type GroupRole = (typeof groupRoles)[number];

/** Normalized group name to role. */
export type GroupMapping = ReadonlyMap<string, GroupRole>;

/** Groups are compared without surrounding spaces and ignoring case. */
export const normalizeGroup = (name: string): string => name.trim().toLowerCase();

/**
 * Reads a mapping of groups to roles.
 *
 * @returns the mapping, or the fault of the first entry that is not valid
 */
export function toGroupMapping(entries: Readonly<Record<string, unknown>>): { mapping: GroupMapping; fault?: string } {
  const mapping = new Map<string, GroupRole>();
  for (const [name, role] of Object.entries(entries)) {
    const group = normalizeGroup(name);
    if (group === '') return { mapping, fault: 'a group without a name' };
    if (mapping.has(group)) return { mapping, fault: 'the same group twice' };
    if (!isGroupRole(role)) return { mapping, fault: `a role other than ${groupRoles.join(', ')}` };
    mapping.set(group, role);
  }
  return { mapping };
}

/** The same for JSON text. */
export function parseGroupMapping(text: string): ReturnType<typeof toGroupMapping> {
  try {
    const entries = JSON.parse(text) as unknown;
    const isMap = typeof entries === 'object' && entries !== null && !Array.isArray(entries);
    return isMap ? toGroupMapping({ ...entries }) : { mapping: new Map(), fault: 'no JSON object' };
  } catch {
    return { mapping: new Map(), fault: 'no JSON' };
  }
}

const isGroupRole = (role: unknown): role is GroupRole => (groupRoles as readonly unknown[]).includes(role);
