import { getCategory, type AuditAct, type Caller, type Endpoint } from '@svc/contract';

interface ActRequest {
  params: unknown;
  query: unknown;
  body: unknown;
  requestId: string;
}

/** The act of a request, as its endpoint declares it; undefined when it is not recorded by the gate. */
export function toAct(
  { id, audit }: Pick<Endpoint, 'id' | 'audit'>,
  caller: Caller,
  asked: ActRequest,
): AuditAct | undefined {
  if (audit === undefined || audit === 'self' || audit === 'none') return undefined;
  const { type, action, resource, severity } = audit;
  const [kind = '', field = ''] = resource ?? [];
  const resourceId =
    field && [asked.params, asked.body, asked.query].map((part) => readText(part, field)).find(Boolean);
  return {
    event_type: type,
    action,
    severity: severity ?? (getCategory(type) === 'routine' ? 'INFO' : 'MEDIUM'),
    identity: caller.principalId || caller.submitterId,
    ...(kind === 'job' && resourceId && { job_id: resourceId }),
    extra: {
      endpoint: id,
      request_id: asked.requestId,
      role: caller.role,
      auth_source: caller.source,
      key_id: caller.keyId,
      ...(kind && { resource_type: kind }),
      ...(resourceId && { resource_id: resourceId }),
      ...(kind === 'run' && resourceId && { run_id: resourceId }),
    },
  };
}

const MAX_ID_CHARS = 512;

function readText(part: unknown, field: string): string {
  const value = typeof part === 'object' && part !== null ? (part as Record<string, unknown>)[field] : undefined;
  return typeof value === 'string' ? value.slice(0, MAX_ID_CHARS) : '';
}
