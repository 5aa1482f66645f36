import type { AuditEventType } from './event-types';
import type { AuditSeverity } from './event';

/**
 * How the calls of an endpoint are recorded in the audit chain of the caller's tenant. `self`: the scripts behind it record
 * what changes. `none`: it changes nothing. A read has the type `governance.read`, and is recorded if its operation marks what it
 * reads as sensitive (`markSensitive` of the store).
 */
export type EndpointAudit =
  | {
      type: AuditEventType;
      /** Such as `pool.drain`. */
      action: string;
      /** Kind of the resource, and the field of the path, body or query that contains its id. */
      resource?: readonly [kind: string, field: string];
      /** Default: INFO for routine events, else MEDIUM. */
      severity?: AuditSeverity;
    }
  | 'self'
  | 'none';
