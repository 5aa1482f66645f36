import { queues } from '@svc/queues.config';
import { toRunState } from '@svc/workflows';
import { keys, type Store } from '@svc/store';
import type { TimelineEvent } from '@svc/workflow';
import type { RunHistory } from './history';

const atOnce = 100;
const boardSets = ['waiting-children', 'completed', 'failed'];

/** All runs with their timelines and leftovers. */
export async function readRuns(store: Store): Promise<Map<string, RunHistory>> {
  const ids = await runIds(store);
  const runs = new Map<string, RunHistory>();
  for (let from = 0; from < ids.length; from += atOnce) {
    const batch = ids.slice(from, from + atOnce);
    const read = await Promise.all(batch.map((id) => readRun(store, id)));
    batch.forEach((id, i) => {
      const run = read[i];
      if (run) runs.set(id, run);
    });
  }
  return runs;
}

async function runIds({ redis }: Store): Promise<string[]> {
  const prefix = keys.run('');
  const ids = new Set<string>();
  let cursor = '0';
  do {
    const [next, found] = await redis.scan(cursor, 'MATCH', `${prefix}*`, 'COUNT', 1_000);
    // Keys of steps, timelines and the like are longer.
    for (const key of found) if (!key.slice(prefix.length).includes(':')) ids.add(key.slice(prefix.length));
    cursor = next;
  } while (cursor !== '0');
  return [...ids];
}

async function readRun({ redis, runs }: Store, id: string): Promise<RunHistory | undefined> {
  const [loaded, timeline, events, timers, [awake, acting], shown] = await Promise.all([
    runs.load(id),
    runs.timeline(id, 1_000),
    redis.llen(keys.runInbox(id)),
    redis.hlen(keys.runTimers(id)),
    redis.hmget(keys.run(id), 'awake', 'acting'),
    Promise.all(boardSets.map((set) => redis.zscore(keys.queue(queues.runs.name, set), `run-${id}`))),
  ]);
  return (
    loaded && {
      run: toRunState(loaded),
      // Written by passes only.
      timeline: timeline as unknown as TimelineEvent[],
      left: {
        'events in its inbox': events,
        timers,
        'mark that it is awake': awake ? 1 : 0,
        'mark that things are to be done': acting === '1' ? 1 : 0,
      },
      shownAs: boardSets.filter((_, i) => shown[i]),
    }
  );
}
