import { bootIdLabel, heartbeatPacket, storeAccessLabel } from '@svc/contract';
import { WorkerRegistry } from './worker-registry';

const head = { trace_id: '', sender_id: 'w1', nowUs: 0 };
const { body: beat } = heartbeatPacket(head, { worker_id: 'w1', pool: 'main', max_parallel_jobs: 1 });

describe('a worker without heartbeats', () => {
  const ttlMs = 1_000;
  const registry = () => {
    const workers = new WorkerRegistry({ ttlMs, readinessTtlMs: ttlMs });
    workers.busConnected(0);
    workers.heartbeat(beat, 0);
    return workers;
  };

  it('expires after its TTL', () => {
    const workers = registry();

    expect(workers.expire(ttlMs)).toEqual([]);
    expect(workers.expire(ttlMs + 1)).toEqual(['w1']);
    expect(workers.expire(ttlMs + 2)).toEqual([]);
  });

  it('is kept while the bus is disconnected, and its TTL restarts when the bus reconnects', () => {
    const workers = registry();
    workers.busDisconnected();

    expect(workers.expire(100 * ttlMs)).toEqual([]);
    expect(workers.isConnectedPastTtl(100 * ttlMs)).toBe(false);
    workers.busConnected(100 * ttlMs);
    expect(workers.expire(101 * ttlMs)).toEqual([]);
    expect(workers.expire(101 * ttlMs + 1)).toEqual(['w1']);
  });
});

describe('a job whose slot is freed early', () => {
  const full = { ...beat, active_jobs: 1 };
  const releasedEarly = () => {
    const workers = new WorkerRegistry({ ttlMs: 1_000, readinessTtlMs: 1_000 });
    workers.heartbeat(full, 0);
    workers.releaseEarly('w1', 'j', 500);
    return workers;
  };

  it('does not occupy it again through a heartbeat that still counts it', () => {
    const workers = releasedEarly();

    workers.heartbeat(full, 499);

    expect(workers.freeSlots('w1')).toBe(1);
  });

  it('counts again when another job occupies the slot', () => {
    const workers = releasedEarly();

    workers.adjustActive('w1', 1);
    workers.heartbeat({ ...full, active_jobs: 2, max_parallel_jobs: 3 }, 1);

    expect(workers.freeSlots('w1')).toBe(1);
    expect(workers.endEarlyRelease('w1', 'j')).toBe(false);
  });

  it('counts again after its grace period, or when its worker has ended it', () => {
    const [late, ended] = [releasedEarly(), releasedEarly()];

    expect([
      ended.endEarlyRelease('w1', 'other'),
      ended.endEarlyRelease('w1', 'j'),
      ended.endEarlyRelease('w1', 'j'),
    ]).toEqual([false, true, false]);
    late.heartbeat(full, 500);
    ended.heartbeat(full, 499);

    expect([late.freeSlots('w1'), ended.freeSlots('w1')]).toEqual([0, 0]);
  });
});

describe('an ability announced in heartbeats', () => {
  const ttlMs = 1_000;
  const from = (boot: string, labels: Record<string, string> = {}) => ({
    ...beat,
    labels: { ...(boot && { [bootIdLabel]: boot }), ...labels },
  });
  const able = { [storeAccessLabel]: 'true' };
  const announcedBy = (...beats: [beat: typeof beat, atMs: number][]) => {
    const workers = new WorkerRegistry({ ttlMs, readinessTtlMs: ttlMs });
    for (const [one, atMs] of beats) workers.heartbeat(one, atMs);
    return (nowMs: number) => workers.announces('w1', storeAccessLabel, nowMs);
  };

  it('counts from the first heartbeat on', () => {
    expect(announcedBy()(0)).toBe(false);
    expect(announcedBy([from('a', able), 0])(0)).toBe(true);
    expect(announcedBy([from('a', { [storeAccessLabel]: 'yes' }), 0])(0)).toBe(false);
  });

  it.each(['b', ''])('ends with the first heartbeat of a process without it (boot id "%s")', (boot) => {
    expect(announcedBy([from('a', able), 0], [from(boot), 1])(1)).toBe(false);
  });

  it('does not count while another process of the worker may live that lacks it', () => {
    const announces = announcedBy([from('a', able), 0], [from('b'), 1], [from('a', able), 2]);

    expect([announces(2), announces(1 + ttlMs), announces(2 + ttlMs)]).toEqual([false, false, true]);
  });

  it('is unknown for a worker that was only read from the snapshot', () => {
    const [earlier, workers] = [0, 0].map(() => new WorkerRegistry({ ttlMs, readinessTtlMs: ttlMs }));
    earlier?.heartbeat(from('a', able), 0);
    workers?.warm(earlier?.records() ?? [], 1);

    expect(workers?.has('w1')).toBe(true);
    expect(workers?.announces('w1', storeAccessLabel, 1)).toBe(false);
  });

  it('ends with the worker', () => {
    const workers = new WorkerRegistry({ ttlMs, readinessTtlMs: ttlMs });
    workers.busConnected(0);
    workers.heartbeat(from('a', able), 0);

    expect(workers.expire(ttlMs + 1)).toEqual(['w1']);
    expect(workers.announces('w1', storeAccessLabel, ttlMs + 1)).toBe(false);
  });
});

describe('the record of a live worker in Redis', () => {
  const nowMs = 1_000_000;
  const registry = () => new WorkerRegistry({ ttlMs: 60_000, readinessTtlMs: 60_000 });

  it('is renewed every 30 s, not with every heartbeat', () => {
    const workers = registry();
    const renewed = [0, 5_000, 30_000, 35_000, 60_000].map((afterMs) => {
      workers.heartbeat(beat, nowMs + afterMs);
      return workers.startRenewal('w1', nowMs + afterMs);
    });

    expect(renewed).toEqual([false, false, true, false, true]);
  });

  it('is renewed at once for a worker that was only read from the snapshot', () => {
    const [earlier, workers] = [registry(), registry()];
    earlier.heartbeat(beat, nowMs);
    workers.warm(earlier.records(), nowMs + 1);
    workers.heartbeat(beat, nowMs + 2);

    expect([workers.startRenewal('w1', nowMs + 2), workers.startRenewal('w1', nowMs + 3)]).toEqual([true, false]);
    expect(workers.startRenewal('w2', nowMs)).toBe(false);
  });
});
