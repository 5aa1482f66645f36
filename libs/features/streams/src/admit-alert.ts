import { subjects } from '@svc/contract';
import { type AttestedDelivery, isServiceSender, type WorkerTrust } from '@svc/worker-trust';

export type AlertTrust = Pick<WorkerTrust, 'admits' | 'isEnforced'>;
export type AlertDelivery = AttestedDelivery & { packet: { kind: 'alert' } };

/** Where alerts arrive. Services publish each of theirs on both subjects. */
export const alertSubjects = [subjects.alert, subjects.serviceAlert] as const;

/** `copy`: the same alert is shown as it arrives on the other subject. `refused`: its sender proves too little. */
export type AlertOutcome = 'shown' | 'copy' | 'refused';

/**
 * Whether clients see an alert. Alerts of workers are attested like their heartbeats. The name of a service proves nothing on
 * the subject that workers publish on too: while proofs are required, the copy on the services' own subject counts, and
 * otherwise the one that everybody sees.
 */
export async function admitAlert(
  trust: AlertTrust,
  subject: string,
  { packet, bytes }: AlertDelivery,
): Promise<AlertOutcome> {
  const isProven = subject === subjects.serviceAlert.name;
  if (isProven || isServiceSender(packet.sender_id)) return isProven === trust.isEnforced ? 'shown' : 'copy';
  return (await trust.admits({ packet, bytes })) ? 'shown' : 'refused';
}
