import { alertPacket, subjects } from '@svc/contract';
import type { Clock, JobBus, Random } from '@svc/platform';
import type { EffectiveConfig } from './effective-config';

export interface AnnounceDeps {
  clock: Clock;
  random: Random;
  bus: JobBus;
  senderId: string;
  config: EffectiveConfig;
  /** A notice could not be sent or applied; replicas find the change by themselves within 30 s. */
  onNoticeFailed(error: unknown): void;
}

/**
 * Notifies every replica, this one first, that a part of the configuration changed.
 * See docs/reference/config.md#documents.
 */
export async function announceChange(deps: AnnounceDeps, scope: { scope: string; scope_id: string }): Promise<void> {
  deps.config.changed();
  const { clock, random, senderId } = deps;
  const head = { trace_id: random.uuid(), sender_id: senderId, nowUs: clock.nowUs() };
  const details = { ...scope, changed_at: new Date(clock.nowMs()).toISOString() };
  const notice = alertPacket(head, { severity: 'info', message: 'config changed', details });
  await deps.bus.publish(subjects.configChanged.name, notice).catch((error: unknown) => deps.onNoticeFailed(error));
}
