import type { Access } from '@svc/contract';
import type { EventClass } from './stream-event';

/** Who may receive the events of a class. Those of installation-wide classes need access to all tenants as well. */
export const classAccess: Readonly<Record<EventClass, Access>> = {
  job: { permission: 'jobs.read', roles: 'any' },
  run: { permission: 'workflows.read', roles: 'any' },
  worker: { permission: 'workers.read', roles: ['admin', 'operator', 'viewer'] },
  alert: { permission: 'admin.*', roles: ['admin'] },
  audit: { permission: 'audit.read', roles: ['admin', 'operator', 'viewer'] },
};

/** Classes that a caller may receive. */
export const readableClasses = (mayUse: (access: Access) => boolean): ReadonlySet<EventClass> =>
  new Set((Object.keys(classAccess) as EventClass[]).filter((name) => mayUse(classAccess[name])));
