import { bootIdLabel, handshakePacket, heartbeatPacket } from '@svc/contract';
import type { JobRecord } from '@svc/store';
import { isLost } from './absent-jobs';
import { WorkerRegistry } from './worker-registry';

type HeartbeatDraft = Partial<Parameters<typeof heartbeatPacket>[1]>;
const head = { trace_id: '', sender_id: 'w1', nowUs: 0 };
const beat = (over: HeartbeatDraft = {}) =>
  heartbeatPacket(head, { worker_id: 'w1', pool: 'main', max_parallel_jobs: 4, ...over }).body;
const job = (id: string, dispatchedMs = 0) => ({ id, dispatched_at: dispatchedMs * 1_000 }) as JobRecord;

/** Sends heartbeats one second apart; returns the jobs that the last one shows to be lost. */
function sendBeats(beats: HeartbeatDraft[], jobs: JobRecord[], workers = new WorkerRegistry(times)): string[] {
  let lost: string[] = [];
  for (const [i, draft] of beats.entries()) {
    const outcome = workers.heartbeat(beat(draft), i * 1_000);
    const unlisted = jobs.map(({ id }) => id).filter((id) => !draft.running_jobs?.includes(id));
    const absence = workers.absence(beat(draft), unlisted, outcome, i * 1_000);
    lost = unlisted.filter((one) => jobs.some((job) => job.id === one && isLost(job, absence, i * 1_000)));
  }
  return lost;
}
const times = { ttlMs: 30_000, readinessTtlMs: 30_000 };
const counted = { active_jobs: 1 };
const idle = { active_jobs: 0 };

describe('a job recorded with a live worker', () => {
  it('is lost when every heartbeat for two seconds counts no job, but not earlier', () => {
    expect(sendBeats([counted, idle, idle], [job('a')])).toEqual([]);
    expect(sendBeats([counted, idle, idle, idle], [job('a')])).toEqual(['a']);
    expect(sendBeats([counted, idle, idle, counted, idle], [job('a')])).toEqual([]);
  });

  it('is not lost with a worker that never counts jobs, until its handshake announces that it does', () => {
    const workers = new WorkerRegistry(times);
    const beats = [idle, idle, idle, idle];

    expect(sendBeats(beats, [job('a')], workers)).toEqual([]);
    const shake = handshakePacket(head, { component_id: 'w1', capabilities: { heartbeats: true } });
    workers.handshake('w1', shake.body, 0);
    expect(sendBeats(beats, [job('a')], workers)).toEqual(['a']);
  });

  it('is lost when job lists omit it, unless they may be truncated or the worker has no free slot', () => {
    const lists = (running_jobs: string[], active_jobs: number) =>
      sendBeats(
        Array.from({ length: 4 }, () => ({ running_jobs, active_jobs })),
        [job('a')],
      );

    expect(lists(['b'], 1)).toEqual(['a']);
    expect(lists(['a', 'b'], 2)).toEqual([]);
    expect(lists(['b'], 2)).toEqual([]);
    expect(lists(['b', 'c', 'd', 'e'], 4)).toEqual([]);
  });

  it('is not lost for the absence of an earlier dispatch', () => {
    expect(sendBeats([counted, idle, idle, idle], [job('a', 2_500)])).toEqual([]);
  });

  const boot = (id: string) => ({ ...counted, labels: { [bootIdLabel]: id } });

  it('is lost at the first heartbeat of a new process, when it was dispatched to the old one', () => {
    expect(sendBeats([boot('one'), boot('two')], [job('a'), job('b', 500)])).toEqual(['a']);
    expect(sendBeats([boot('one'), boot('two'), boot('one')], [job('a')])).toEqual([]);
  });

  it('is left to a draining old process', () => {
    const workers = new WorkerRegistry(times);
    workers.heartbeat(beat(boot('one')), 0);
    const shake = (capabilities: Record<string, boolean>) =>
      workers.handshake('w1', handshakePacket(head, { component_id: 'w1', capabilities }).body, 0);
    shake({ 'x-draining': true });
    shake({});

    expect(sendBeats([boot('two')], [job('a')], workers)).toEqual([]);
  });
});
