import { ack, nak, type Bus, type Consumption } from '@svc/bus';
import { consumers, subjects } from '@svc/contract';
import { handleResult, hearHandshake, hearHeartbeat, hearProgress, ingestJob } from '@svc/dispatch';
import type { SchedulerContext } from '../context';

type Failed = (subject: string, error: unknown) => void;

/**
 * What the scheduler hears. Durable messages are acknowledged once what they say is written; one that cannot be written
 * comes again. Heartbeats, handshakes and progress are told again by their senders, so a failure there is only noted.
 */
export function startConsumers(bus: Bus, ctx: SchedulerContext, failed: Failed): Consumption[] {
  const noted = (subject: string, work: Promise<unknown>) => work.catch((error: unknown) => failed(subject, error));
  const durably = async (subject: string, work: () => Promise<void>) => {
    try {
      await work();
      return ack;
    } catch (error) {
      failed(subject, error);
      return nak(1_000);
    }
  };
  return [
    bus.consume(consumers.schedulerResult, ({ packet }) =>
      durably(subjects.jobResult.name, () => handleResult(ctx, packet.sender_id, packet.body)),
    ),
    bus.consume(consumers.schedulerSubmit, ({ packet }) =>
      durably(subjects.jobSubmit.name, () =>
        ingestJob(ctx, packet.sender_id, packet.trace_id, packet.body, ctx.defaultTenant),
      ),
    ),
    bus.subscribe(subjects.heartbeat, async ({ packet }) => {
      await noted(subjects.heartbeat.name, hearHeartbeat(ctx, packet.sender_id, packet.body));
    }),
    bus.subscribe(subjects.handshake, ({ packet }) => hearHandshake(ctx, packet.sender_id, packet.body)),
    bus.subscribe(
      subjects.jobProgress,
      async ({ packet }) => {
        await noted(subjects.jobProgress.name, hearProgress(ctx, packet.sender_id, packet.body));
      },
      { group: 'svc-scheduler' },
    ),
  ];
}
