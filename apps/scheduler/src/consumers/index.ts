import { ack, nak, type Bus, type Consumption } from '@svc/bus';
import { consumers, subjects } from '@svc/contract';
import { handleResult, handleHandshake, handleHeartbeat, handleProgress, handleReport, ingestJob } from '@svc/dispatch';
import type { SchedulerContext } from '../context';

type OnFailed = (subject: string, error: unknown) => void;

/**
 * Starts the scheduler's subscriptions. A durable message is acknowledged once its effect is stored and redelivered
 * otherwise. Senders repeat heartbeats, handshakes and progress, so a failure there is only reported.
 */
export function startConsumers(bus: Bus, ctx: SchedulerContext, onFailed: OnFailed): Consumption[] {
  const bestEffort = (subject: string, work: Promise<unknown>) =>
    work.catch((error: unknown) => onFailed(subject, error));
  const durably = async (subject: string, work: () => Promise<void>) => {
    try {
      await work();
      return ack;
    } catch (error) {
      onFailed(subject, error);
      return nak(1_000);
    }
  };
  return [
    bus.consume(consumers.schedulerResult, (delivery) =>
      durably(subjects.jobResult.name, async () => {
        const { packet } = delivery;
        // A refused result is acknowledged: a redelivered one would be refused again.
        const admitted = ctx.trust.admits(delivery);
        if (admitted === true || (await admitted)) await handleResult(ctx, packet.sender_id, packet.body);
      }),
    ),
    bus.consume(consumers.schedulerSubmit, ({ packet }) =>
      durably(subjects.jobSubmit.name, () =>
        ingestJob(ctx, packet.sender_id, packet.trace_id, packet.body, ctx.defaultTenant),
      ),
    ),
    bus.subscribe(subjects.heartbeat, async (delivery) => {
      const { packet } = delivery;
      if (!(await ctx.trust.admits(delivery))) return;
      const beat = ctx.trust.judge(packet);
      if (beat) await bestEffort(subjects.heartbeat.name, handleHeartbeat(ctx, packet.sender_id, beat));
    }),
    bus.subscribe(subjects.handshake, async (delivery) => {
      const { packet } = delivery;
      if (await ctx.trust.admits(delivery)) handleHandshake(ctx, packet.sender_id, packet.body);
    }),
    bus.subscribe(
      subjects.jobProgress,
      async (delivery) => {
        const { packet } = delivery;
        if (!(await ctx.trust.admits(delivery))) return;
        await bestEffort(subjects.jobProgress.name, handleProgress(ctx, packet.sender_id, packet.body));
      },
      { group: 'svc-scheduler' },
    ),
    bus.subscribe(
      subjects.jobStream,
      async (delivery) => {
        const { packet } = delivery;
        if (!(await ctx.trust.admits(delivery))) return;
        await bestEffort(subjects.jobStream.name, handleReport(ctx, packet.sender_id, packet.body));
      },
      { group: 'svc-scheduler' },
    ),
  ];
}
