import { anyPool, workerIdPattern, type TypedPacket } from '@svc/contract';
import { matchesTopic } from '@svc/routing';

/** Packets of workers that are attested. */
type AttestedKind = 'heartbeat' | 'handshake' | 'job_result' | 'job_progress' | 'alert';
export type AttestedPacket = { [K in AttestedKind]: TypedPacket<K> }[AttestedKind];

/** Reasons to refuse the packet of a worker, in the order of the checks. See docs/reference/worker-protocol.md#attestation. */
export const refusalReasons = [
  'sender_id_mismatch',
  'credential_cache_unavailable',
  'auth_token_missing',
  'credential_verify_error',
  'credential_invalid',
  'session_required',
  'session_invalid',
  'session_expired',
  'session_revoked',
  'pool_not_allowed',
  'topic_not_allowed',
  'pool_differs',
  'capabilities_differ',
  'signature_missing',
  'signature_invalid',
  'signature_key_unknown',
  'replay_detected',
] as const;
export type RefusalReason = (typeof refusalReasons)[number];

/** What the credential of a worker permits. */
export interface WorkerScope {
  /** Undefined: jobs of all tenants. */
  tenant?: string | undefined;
  pools: readonly string[];
  topics: readonly string[];
}

/** A packet with its bytes as received, which its signature covers. */
export interface AttestedDelivery {
  packet: AttestedPacket;
  bytes: Uint8Array;
}

/** Worker that a packet speaks for, '' when it names none. */
function getClaimedWorker(packet: AttestedPacket): string {
  switch (packet.kind) {
    case 'heartbeat':
    case 'job_result':
      return packet.body.worker_id;
    case 'handshake':
      return packet.body.component_id;
    case 'job_progress':
      return packet.body.dispatch?.assigned_worker_id || packet.sender_id;
    case 'alert':
      return packet.sender_id;
  }
}

export const isFromClaimedWorker = (packet: AttestedPacket): boolean =>
  workerIdPattern.test(packet.sender_id) && getClaimedWorker(packet) === packet.sender_id;

/** Older workers send their credential in the heartbeat. */
export const getToken = (packet: AttestedPacket): string =>
  (packet.kind === 'heartbeat' && packet.body.auth_token) || packet.auth_token;

/** Reason to refuse a packet whose token is valid. */
export function findScopeRefusal(packet: AttestedPacket, scope: WorkerScope): RefusalReason | undefined {
  if (packet.kind === 'heartbeat' && !allowsPool(scope, packet.body.pool)) return 'pool_not_allowed';
  if (packet.kind === 'handshake' && !packet.body.ready_topics.every((topic) => allowsTopic(scope, topic)))
    return 'topic_not_allowed';
  return undefined;
}

/** Whether a credential permits a pool. */
export const allowsPool = ({ pools }: WorkerScope, pool: string): boolean =>
  pools.includes(anyPool) || pools.includes(pool);

/** @param topic a topic, or a pattern of which every topic must be allowed */
export function allowsTopic({ topics }: WorkerScope, topic: string): boolean {
  const isOpenEnded = topic.endsWith('.>');
  return topics.some((allowed) => (!isOpenEnded || allowed.endsWith('.>')) && matchesTopic(allowed, topic));
}

/** Senders of the services' own packets. No worker has such an id: no credential is created for one. */
const serviceSender = /^(gateway|scheduler|engine|workflow-engine|kernel|safety-kernel)(-|$)/;

/** Whether an id belongs to services. It proves nothing: a result from such an id belongs to no worker and has no effect. */
export const isServiceSender = (id: string): boolean => serviceSender.test(id);
