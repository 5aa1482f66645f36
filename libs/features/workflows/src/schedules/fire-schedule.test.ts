import { AppError } from '@svc/contract';
import { queues } from '@svc/queues.config';
import { giveAgent } from '@svc/fixtures/store';
import { keys } from '@svc/store';
import { fireSchedule } from './fire-schedule';
import { pauseSchedule, putSchedule, resumeSchedule } from './save-schedule';
import { useSchedules } from './schedules.testing';
import { sweepSchedules } from './sweep-schedules';

const use = useSchedules();
const minute = 60_000;
/** Delay until the first time, and from one time to the next. */
const [toFirst, toNext] = [10 * minute + 5_000, 10 * minute - 1_000];
const fire = (id: string, dueMs: number) => fireSchedule(use.deps, { schedule_id: id, due_ms: dueMs });
const many = <T>(count: number, make: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, i) => make(i)));
const readRecord = async (id: string) => (await use.read(id)).record;
const part = (name: string) => keys.queue(queues.schedules.name, name);
const sweep = () => sweepSchedules(use.deps, { lateMs: 0, unseenMs: -1, atOnce: 10 });
/** Fires until no work is left for now. */
async function fireOut(id: string, dueMs: number): Promise<void> {
  while ((await fire(id, dueMs)) !== undefined);
}

describe('a due time', () => {
  it('starts a run attributed to the creator of the schedule, and records it', async () => {
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

  it('fired by many processes at once, starts one run', async () => {
    const { id } = await use.add({ overlap: 'allow' });
    const dueMs = await use.passed(id, 10 * minute);

    await many(20, () => fireOut(id, dueMs));

    expect(await use.runs()).toHaveLength(1);
    expect((await use.read(id)).starts).toEqual([]);
  });

  it('is determined by the clock of Redis, however far the clock of a service has jumped', async () => {
    const { id } = await use.add();
    const { dueMs = 0 } = await readRecord(id);
    const real = Date.now;
    Date.now = () => real() + 86_400_000;
    try {
      const answer = await fire(id, dueMs);

      expect(answer?.retryInMs).toBeGreaterThan(9 * minute);
      expect(answer?.retryInMs).toBeLessThanOrEqual(10 * minute);
    } finally {
      Date.now = real;
    }
    expect(await use.runs()).toEqual([]);
  });

  it('fires once although a clock jumped back and its entry ran twice', async () => {
    const { id } = await use.add({ overlap: 'allow' });
    const dueMs = await use.passed(id, 10 * minute);

    await fire(id, dueMs);
    await fire(id, dueMs);

    expect(use.asked).toHaveLength(1);
  });

  it('of a removed schedule starts nothing', async () => {
    expect(await fire('gone', 1)).toBeUndefined();
  });
});

describe('a process that crashes', () => {
  it('after the claim: another one makes the start', async () => {
    const { id } = await use.add();
    const dueMs = await use.passed(id, 10 * minute);
    const [nextMs, starts] = [dueMs + 10 * minute, [dueMs]];
    await use.store.schedules.claim({ id, revision: 1, dueMs, nextMs, starts });

    await fire(id, dueMs);

    expect(use.asked.map(({ idempotencyKey }) => idempotencyKey)).toEqual([`schedule:${id}:${dueMs}`]);
    expect((await use.read(id)).starts).toEqual([]);
  });

  it('after the claim, with its entry lost: the sweep requeues the schedule', async () => {
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

  it('after the start, before it is recorded: the repeated start returns the same run', async () => {
    const { id } = await use.add();
    const dueMs = await use.passed(id, 10 * minute);
    const settle = jest.spyOn(use.store.schedules, 'settle').mockRejectedValueOnce(new Error('died'));

    await expect(fire(id, dueMs)).rejects.toThrow('died');
    settle.mockRestore();
    await fire(id, dueMs);

    const runs = await use.runs();
    expect(runs).toHaveLength(1);
    expect(use.asked).toHaveLength(2);
    expect((await readRecord(id)).last_run_id).toBe(runs[0]);
  });
});

describe('missed times', () => {
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

  it('skip: the schedule records that some were skipped', async () => {
    const { id } = await use.add({ misfire: 'skip' });

    await fire(id, await use.passed(id, 35 * minute));

    expect((await readRecord(id)).last_error).toMatch(/left out \(misfire: skip\)/);
  });
});

describe('the previous run is still live', () => {
  /** A schedule whose second time is due while its first run is live. */
  async function second(overlap: 'skip' | 'queue' | 'allow' | 'cancel_previous') {
    const { id } = await use.add({ overlap });
    await fire(id, await use.passed(id, toFirst));
    const [first = ''] = await use.runs();
    return { id, first, dueMs: await use.passed(id, toNext) };
  }

  it('skip: the start is skipped, and the schedule records why', async () => {
    const { id, first, dueMs } = await second('skip');

    await fire(id, dueMs);

    expect(await use.runs()).toEqual([first]);
    expect((await readRecord(id)).last_error).toMatch(`the run before, ${first}, is under way (overlap: skip)`);
  });

  it('skip: once it has ended, the next one starts', async () => {
    const { id, first, dueMs } = await second('skip');
    await use.end(first);

    await fire(id, dueMs);

    expect(await use.runs()).toHaveLength(2);
  });

  it('allow: it starts concurrently', async () => {
    const { id, dueMs } = await second('allow');

    await fire(id, dueMs);

    expect(await use.runs()).toHaveLength(2);
    expect(use.cancelled).toEqual([]);
  });

  it('cancel_previous: the previous run is cancelled, and the next one starts', async () => {
    const { id, first, dueMs } = await second('cancel_previous');

    await fire(id, dueMs);

    expect(use.cancelled).toEqual([first]);
    expect(await use.runs()).toHaveLength(2);
  });

  it('queue: starts wait in order, with one retried entry', async () => {
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

describe('a rejected start', () => {
  it('at capacity is retried later, for the same time', async () => {
    const { id } = await use.add();
    const dueMs = await use.passed(id, 10 * minute);
    use.onStart = () => {
      throw new AppError('run_not_runnable');
    };
    await fire(id, dueMs);
    expect(await use.read(id)).toMatchObject({ starts: [dueMs] });
    expect((await readRecord(id)).last_error).toMatch(/was refused: too many runs under way/);

    use.onStart = () => undefined;
    await fire(id, dueMs);

    expect(use.asked.map(({ idempotencyKey }) => idempotencyKey)).toEqual([`schedule:${id}:${dueMs}`]);
    expect(await readRecord(id)).not.toHaveProperty('last_error');
  });

  it('at capacity until the next time counts as missed', async () => {
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

  it('for another reason is not retried, and the schedule records why', async () => {
    const { id } = await use.add();
    const dueMs = await use.passed(id, 10 * minute);
    use.onStart = () => {
      throw new AppError('input_schema_validation_failed');
    };

    await fire(id, dueMs);

    expect(await use.read(id)).toMatchObject({ starts: [] });
    expect((await readRecord(id)).last_error).toMatch(/was refused: the input does not fit/);
  });

  it('by an unexpected error is retried with its queue entry', async () => {
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

describe('a schedule of an agent', () => {
  it('starts runs of the agent, also after a person has replaced and resumed it', async () => {
    const agent = await giveAgent(use.store);
    const { id, created_by: _, ...added } = await use.add({ overlap: 'allow' }, agent.id);
    await pauseSchedule(use.deps, use.caller, 'cargo', id);
    const { name, time_zone, overlap, misfire, input } = added;
    const fields = { name, time_zone, overlap, misfire, input, interval_sec: 600, paused: true };
    await putSchedule(use.deps, use.caller, 'cargo', id, fields);
    const resumed = await resumeSchedule(use.deps, use.caller, 'cargo', id);

    await fire(id, await use.passed(id, toFirst));

    expect([resumed.agent_id, use.asked.map(({ agentId }) => agentId)]).toEqual([agent.id, [agent.id]]);
  });

  it('starts none while the agent is not active, cancels no run for it, and records why', async () => {
    const agent = await giveAgent(use.store);
    const { id } = await use.add({ overlap: 'cancel_previous' }, agent.id);
    await fire(id, await use.passed(id, toFirst));
    await agent.change({ status: 'suspended' });

    await fire(id, await use.passed(id, toNext));

    expect([use.asked.length, use.cancelled]).toEqual([1, []]);
    expect(await use.read(id)).toMatchObject({ starts: [], record: { last_error: expect.stringMatching(/agent_inactive/) as string } }); // prettier-ignore
    await agent.change({ status: 'active' });
    await fire(id, await use.passed(id, toNext));
    expect(use.asked).toHaveLength(2);
  });

  it('is written by that agent only, if an agent writes it', async () => {
    const [own, other] = [await giveAgent(use.store), await giveAgent(use.store)];
    const [{ id }, theirs] = [await use.add({}, own.id), await use.add()];
    const denied = { errorCode: 'access_denied' };
    const fields = { name: '', time_zone: 'UTC', overlap: 'skip', misfire: 'skip', interval_sec: 60, input: {}, paused: false } as const; // prettier-ignore

    for (const schedule of [id, theirs.id]) {
      await expect(putSchedule(use.deps, use.caller, 'cargo', schedule, fields, other.id)).rejects.toMatchObject(
        denied,
      );
      await expect(resumeSchedule(use.deps, use.caller, 'cargo', schedule, other.id)).rejects.toMatchObject(denied);
    }
    expect(await putSchedule(use.deps, use.caller, 'cargo', id, fields, own.id)).toMatchObject({ interval_sec: 60 });
  });
});

describe('a pending start', () => {
  it('is dropped by a pause, and not made up afterwards', async () => {
    const { id } = await use.add({ misfire: 'run_all' });
    const dueMs = await use.passed(id, 35 * minute);

    await pauseSchedule(use.deps, use.caller, 'cargo', id);
    await fire(id, dueMs);
    const resumed = await resumeSchedule(use.deps, use.caller, 'cargo', id);
    await fire(id, dueMs);

    expect(await use.runs()).toEqual([]);
    expect(Date.parse(resumed.next_times[0] ?? '')).toBe((await readRecord(id)).dueMs);
  });

  it('stays when an active schedule is resumed', async () => {
    const { id } = await use.add();
    const dueMs = await use.passed(id, 10 * minute);

    await resumeSchedule(use.deps, use.caller, 'cargo', id);
    await fire(id, dueMs);

    expect(await use.runs()).toHaveLength(1);
  });

  it('is dropped with the waiting starts when the schedule is replaced', async () => {
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
