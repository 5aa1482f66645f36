import { AppError } from '@svc/contract';
import { queues } from '@svc/queues.config';
import { keys } from '@svc/store';
import { fireSchedule } from './fire-schedule';
import { pauseSchedule, putSchedule, resumeSchedule } from './save-schedule';
import { useSchedules } from './schedules.testing';
import { sweepSchedules } from './sweep-schedules';

const use = useSchedules();
const minute = 60_000;
/** Until the first time has come, and from one to the next; each is a time of its own. */
const [toFirst, toNext] = [10 * minute + 5_000, 10 * minute - 1_000];
const fire = (id: string, dueMs: number) => fireSchedule(use.deps, { schedule_id: id, due_ms: dueMs });
const many = <T>(count: number, make: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, i) => make(i)));
const recordOf = async (id: string) => (await use.read(id)).record;
const part = (name: string) => keys.queue(queues.schedules.name, name);
const sweep = () => sweepSchedules(use.deps, { lateMs: 0, unseenMs: -1, atOnce: 10 });
/** Fires until nothing more is to be done for now. */
async function fireOut(id: string, dueMs: number): Promise<void> {
  while ((await fire(id, dueMs)) !== undefined);
}

describe('a time that has come', () => {
  it('starts a run in the name of who made the schedule, and tells of it', async () => {
    const { id } = await use.add({ input: { crates: 7 } });
    const dueMs = await use.passed(id, 10 * minute);

    await fire(id, dueMs);

    const at = new Date(dueMs).toISOString();
    expect(use.asked).toEqual([
      {
        tenant: 'acme',
        workflowId: 'cargo',
        submitter: 'apikey:key-of-ann|principal:ann',
        input: { crates: 7 },
        by: 'ann',
        idempotencyKey: `schedule:${id}:${dueMs}`,
        labels: { schedule_id: id, scheduled_for: at },
      },
    ]);
    const [runId] = await use.runs();
    expect(await use.read(id)).toMatchObject({
      starts: [],
      record: { last_run_id: runId, dueMs: dueMs + 10 * minute },
    });
  });

  it('of many processes that fire it at once, starts one run', async () => {
    const { id } = await use.add({ overlap: 'allow' });
    const dueMs = await use.passed(id, 10 * minute);

    await many(20, () => fireOut(id, dueMs));

    expect(await use.runs()).toHaveLength(1);
    expect((await use.read(id)).starts).toEqual([]);
  });

  it('is waited for by the clock of Redis, however far the clock of a service has jumped', async () => {
    const { id } = await use.add();
    const { dueMs = 0 } = await recordOf(id);
    const real = Date.now;
    Date.now = () => real() + 86_400_000;
    try {
      const answer = await fire(id, dueMs);

      expect(answer?.lookAgainInMs).toBeGreaterThan(9 * minute);
      expect(answer?.lookAgainInMs).toBeLessThanOrEqual(10 * minute);
    } finally {
      Date.now = real;
    }
    expect(await use.runs()).toEqual([]);
  });

  it('fires once although a clock jumped back and its entry came twice', async () => {
    const { id } = await use.add({ overlap: 'allow' });
    const dueMs = await use.passed(id, 10 * minute);

    await fire(id, dueMs);
    await fire(id, dueMs);

    expect(use.asked).toHaveLength(1);
  });

  it('of a schedule that is gone starts nothing', async () => {
    expect(await fire('gone', 1)).toBeUndefined();
  });
});

describe('a process that dies', () => {
  it('after the claim: another one makes the start', async () => {
    const { id } = await use.add();
    const dueMs = await use.passed(id, 10 * minute);
    const [nextMs, starts] = [dueMs + 10 * minute, [dueMs]];
    await use.store.schedules.claim({ id, revision: 1, dueMs, nextMs, starts });

    await fire(id, dueMs);

    expect(use.asked.map(({ idempotencyKey }) => idempotencyKey)).toEqual([`schedule:${id}:${dueMs}`]);
    expect((await use.read(id)).starts).toEqual([]);
  });

  it('after the claim, with its entry lost: the sweep sees to it', async () => {
    const { id } = await use.add();
    const dueMs = await use.passed(id, 10 * minute);
    await use.store.schedules.claim({ id, revision: 1, dueMs, nextMs: dueMs + 10 * minute, starts: [dueMs] });
    await use.redis.del(...(await use.redis.keys(`${part('')}*`)));

    expect(await sweep()).toBe(1);

    const [entry = ''] = await use.redis.lrange(part('wait'), 0, -1);
    const payload = JSON.parse((await use.redis.hget(part(entry), 'data')) ?? '') as {
      schedule_id: string;
      due_ms: number;
    };
    await fireSchedule(use.deps, payload);
    expect(await use.runs()).toHaveLength(1);
    expect(await sweep()).toBe(0);
  });

  it('after the start, before it is told of: the same run is answered once more', async () => {
    const { id } = await use.add();
    const dueMs = await use.passed(id, 10 * minute);
    const settle = jest.spyOn(use.store.schedules, 'settle').mockRejectedValueOnce(new Error('died'));

    await expect(fire(id, dueMs)).rejects.toThrow('died');
    settle.mockRestore();
    await fire(id, dueMs);

    const runs = await use.runs();
    expect(runs).toHaveLength(1);
    expect(use.asked).toHaveLength(2);
    expect((await recordOf(id)).last_run_id).toBe(runs[0]);
  });
});

describe('times that passed', () => {
  it.each([
    ['skip', 0],
    ['run_once', 1],
    ['run_all', 3],
  ] as const)('%s: %i starts are made', async (misfire, starts) => {
    const { id } = await use.add({ misfire, overlap: 'allow' });
    const dueMs = await use.passed(id, 35 * minute);

    await fire(id, dueMs);

    expect(await use.runs()).toHaveLength(starts);
    const { record, nowMs } = await use.read(id);
    expect(record.dueMs).toBe(dueMs + 30 * minute);
    expect(record.dueMs).toBeGreaterThan(nowMs);
  });

  it('run_all: each is started for its own time', async () => {
    const { id } = await use.add({ misfire: 'run_all', overlap: 'allow' });
    const dueMs = await use.passed(id, 25 * minute);

    await fire(id, dueMs);

    expect(use.asked.map(({ labels }) => Date.parse(labels?.['scheduled_for'] ?? ''))).toEqual([
      dueMs,
      dueMs + 10 * minute,
    ]);
  });

  it('skip: the schedule says that some were left out', async () => {
    const { id } = await use.add({ misfire: 'skip' });

    await fire(id, await use.passed(id, 35 * minute));

    expect((await recordOf(id)).last_error).toMatch(/left out \(misfire: skip\)/);
  });
});

describe('the run before is still under way', () => {
  /** A schedule whose second time has come while its first run goes on. */
  async function second(overlap: 'skip' | 'queue' | 'allow' | 'cancel_previous') {
    const { id } = await use.add({ overlap });
    await fire(id, await use.passed(id, toFirst));
    const [first = ''] = await use.runs();
    return { id, first, dueMs: await use.passed(id, toNext) };
  }

  it('skip: this one is left out, and the schedule says why', async () => {
    const { id, first, dueMs } = await second('skip');

    await fire(id, dueMs);

    expect(await use.runs()).toEqual([first]);
    expect((await recordOf(id)).last_error).toMatch(`the run before, ${first}, is under way (overlap: skip)`);
  });

  it('skip: once it has ended, the next one starts', async () => {
    const { id, first, dueMs } = await second('skip');
    await use.end(first);

    await fire(id, dueMs);

    expect(await use.runs()).toHaveLength(2);
  });

  it('allow: it starts beside', async () => {
    const { id, dueMs } = await second('allow');

    await fire(id, dueMs);

    expect(await use.runs()).toHaveLength(2);
    expect(use.cancelled).toEqual([]);
  });

  it('cancel_previous: that one is cancelled, and this one starts', async () => {
    const { id, first, dueMs } = await second('cancel_previous');

    await fire(id, dueMs);

    expect(use.cancelled).toEqual([first]);
    expect(await use.runs()).toHaveLength(2);
  });

  it('queue: starts wait, each its turn, with one entry that looks again', async () => {
    const { id, first, dueMs } = await second('queue');
    await fire(id, dueMs);
    const thirdMs = await use.passed(id, toNext);
    await fire(id, thirdMs);

    expect((await use.read(id)).starts).toEqual([dueMs, thirdMs]);
    expect(await use.runs()).toEqual([first]);
    const entries = await use.redis.zrange(part('delayed'), 0, '-1');
    const start = (await use.redis.hget(keys.schedule(id), 'start_entry')) ?? '';
    expect(entries).toContain(start);

    await use.end(first);
    await fire(id, dueMs);
    expect(await use.runs()).toHaveLength(2);
    expect((await use.read(id)).starts).toEqual([thirdMs]);

    await use.end((await use.runs())[1] ?? '');
    await fire(id, dueMs);
    expect(await use.runs()).toHaveLength(3);
    expect((await use.read(id)).starts).toEqual([]);
  });
});

describe('a start that is refused', () => {
  it('for want of room is made later, for the same time', async () => {
    const { id } = await use.add();
    const dueMs = await use.passed(id, 10 * minute);
    use.onStart = () => {
      throw new AppError('run_not_runnable');
    };
    await fire(id, dueMs);
    expect(await use.read(id)).toMatchObject({ starts: [dueMs] });
    expect((await recordOf(id)).last_error).toMatch(/was refused: too many runs under way/);

    use.onStart = () => undefined;
    await fire(id, dueMs);

    expect(use.asked.map(({ idempotencyKey }) => idempotencyKey)).toEqual([`schedule:${id}:${dueMs}`]);
    expect(await recordOf(id)).not.toHaveProperty('last_error');
  });

  it('for want of room until the next one comes has passed', async () => {
    const { id } = await use.add();
    const dueMs = await use.passed(id, toFirst);
    use.onStart = () => {
      throw new AppError('overloaded');
    };
    await fire(id, dueMs);
    const nextMs = await use.passed(id, toNext);
    await fire(id, nextMs);

    expect((await use.read(id)).starts).toEqual([nextMs]);
  });

  it('for another reason is not made again, and the schedule says why', async () => {
    const { id } = await use.add();
    const dueMs = await use.passed(id, 10 * minute);
    use.onStart = () => {
      throw new AppError('input_schema_validation_failed');
    };

    await fire(id, dueMs);

    expect(await use.read(id)).toMatchObject({ starts: [] });
    expect((await recordOf(id)).last_error).toMatch(/was refused: the input does not fit/);
  });

  it('by a defect is tried again with its queue entry', async () => {
    const { id } = await use.add();
    const dueMs = await use.passed(id, 10 * minute);
    use.onStart = () => {
      throw new Error('defect');
    };

    await expect(fire(id, dueMs)).rejects.toThrow('defect');

    use.onStart = () => undefined;
    expect(await fire(id, dueMs)).toBeUndefined();
    expect(await use.runs()).toHaveLength(1);
  });
});

describe('what was due', () => {
  it('is dropped by a pause, and not made up for after it', async () => {
    const { id } = await use.add({ misfire: 'run_all' });
    const dueMs = await use.passed(id, 35 * minute);

    await pauseSchedule(use.deps, use.caller, 'cargo', id);
    await fire(id, dueMs);
    const resumed = await resumeSchedule(use.deps, use.caller, 'cargo', id);
    await fire(id, dueMs);

    expect(await use.runs()).toEqual([]);
    expect(Date.parse(resumed.next_times[0] ?? '')).toBe((await recordOf(id)).dueMs);
  });

  it('stays when a schedule that runs is resumed', async () => {
    const { id } = await use.add();
    const dueMs = await use.passed(id, 10 * minute);

    await resumeSchedule(use.deps, use.caller, 'cargo', id);
    await fire(id, dueMs);

    expect(await use.runs()).toHaveLength(1);
  });

  it('is dropped when the schedule is replaced, with starts that wait', async () => {
    const added = await use.add({ overlap: 'queue' });
    const { id } = added;
    await fire(id, await use.passed(id, toFirst));
    await fire(id, await use.passed(id, toNext));
    expect((await use.read(id)).starts).toHaveLength(1);
    const dueMs = await use.passed(id, toNext);

    const { name, time_zone, overlap, misfire, input } = added;
    const fields = { name, time_zone, overlap, misfire, input, paused: false, interval_sec: 7_200 };
    await putSchedule(use.deps, use.caller, 'cargo', id, fields);
    await fire(id, dueMs);

    expect((await use.read(id)).starts).toEqual([]);
    expect(await use.runs()).toHaveLength(1);
  });
});
