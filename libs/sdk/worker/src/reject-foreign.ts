import { alertPacket, shorten, subjects, WireErrorCode, type TypedPacket } from '@svc/contract';
import type { Receipt } from './ledger';
import type { Link } from './link';

/**
 * Reports and terminates a dispatch that is assigned to another worker: its result would be rejected.
 *
 * @returns whether it is
 */
export function rejectForeign(
  { body, sender_id, trace_id }: TypedPacket<'job_request'>,
  { subject, streamSeq, receipt }: { subject: string; streamSeq?: number; receipt: Pick<Receipt, 'term'> },
  link: Pick<Link, 'head' | 'send'>,
  workerId: string,
): boolean {
  const assigned = body.dispatch?.assigned_worker_id;
  if (!assigned || assigned === workerId) return false;
  const alert = alertPacket(link.head(shorten(trace_id)), {
    severity: 'error',
    message: 'packet refused: the dispatch is assigned to another worker',
    code: WireErrorCode.ERROR_CODE_PERMISSION_DENIED,
    // An alert must fit in a message itself.
    details: { subject, sender_id: shorten(sender_id), stream_seq: String(streamSeq ?? '') },
  });
  link.send(subjects.alert.name, alert);
  receipt.term();
  return true;
}
