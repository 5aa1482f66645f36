import { subjects } from '@svc/contract';
import { PlacementAtSubmission, type PlacementDeps, registerHeartbeat, WorkerRegistry } from '@svc/dispatch';
import { JobEndings } from '@svc/store';
import { eventually } from '@svc/testing';
import { Redis } from 'ioredis';
import type { Scheduler } from './scheduler.testing';

/** The placement of new jobs as a gateway has it, with its own registry of workers. */
export interface TestGateway {
  readonly placement: PlacementAtSubmission;
  readonly registry: WorkerRegistry;
  /** Jobs whose step after the accepting call failed. */
  readonly failed: unknown[];
  /** Waits until it knows a worker. */
  knows(workerId: string): Promise<unknown>;
  stop(): Promise<void>;
}

/** @param over replaces dependencies, such as a bus that fails */
export async function startGateway(
  { ctx, bus }: Scheduler,
  redisUrl: string,
  over: Partial<PlacementDeps> = {},
): Promise<TestGateway> {
  const registry = new WorkerRegistry({ ttlMs: ctx.registry.ttlMs, readinessTtlMs: 60_000 });
  registry.busConnected(ctx.clock.nowMs());
  const failed: unknown[] = [];
  const { inFlight: _, ...shared } = ctx;
  const deps = { ...shared, registry, mayDispatch: true, ...over };
  const events = { ...ctx.events, placementFailed: (_id: string, error: unknown) => void failed.push(error) };
  const placement = new PlacementAtSubmission({ ...deps, events: { ...events, ...over.events } });
  const heartbeats = bus.subscribe(subjects.heartbeat, async ({ packet }) => {
    await registerHeartbeat({ ...ctx, registry }, packet.sender_id, packet.body);
  });
  const handshakes = bus.subscribe(subjects.handshake, ({ packet }) =>
    registry.handshake(packet.sender_id, packet.body, ctx.clock.nowMs()),
  );
  const endings = new JobEndings(new Redis(redisUrl, { autoResubscribe: false }));
  endings.follow((end) => placement.ended(end));
  await endings.open();
  await bus.flush();
  return {
    placement,
    registry,
    failed,
    knows: (workerId) => eventually(() => registry.has(workerId)),
    async stop() {
      endings.close();
      await Promise.all([heartbeats.stop(), handshakes.stop()]);
    },
  };
}
