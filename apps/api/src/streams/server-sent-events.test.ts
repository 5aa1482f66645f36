import { eventually } from '@svc/testing';
import { useApi } from '../api.testing';
import { identities, type Who } from '../identities.testing';
import { createRunClient } from '../routes/runs/given-runs.testing';

interface ReceivedEvent {
  id?: string;
  event: string;
  data: Record<string, unknown>;
}

describe('Server-Sent Events', () => {
  const api = useApi({ env: { GATEWAY_STREAMS_MAX_PER_TENANT: '3' } });

  /** Reads a stream until it ends or the condition holds. */
  async function read(
    path: string,
    who: Who = 'viewer',
    { after, until = () => false }: { after?: string; until?: (events: ReceivedEvent[]) => boolean } = {},
  ): Promise<{ status: number; events: ReceivedEvent[] }> {
    const leave = new AbortController();
    const headers = { 'X-API-Key': identities[who].key, ...(after !== undefined && { 'Last-Event-ID': after }) };
    const response = await fetch(`${api.url}${path}`, { headers, signal: leave.signal });
    const events: ReceivedEvent[] = [];
    if (response.status !== 200) return { status: response.status, events };
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk as Uint8Array).toString();
      const parts = text.split('\n\n');
      text = parts.pop() ?? '';
      for (const part of parts.filter((one) => !one.startsWith(':'))) events.push(parse(part));
      if (until(events)) break;
    }
    leave.abort();
    return { status: 200, events };
  }

  function parse(part: string): ReceivedEvent {
    const fields = Object.fromEntries(part.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2)));
    return { ...fields, data: JSON.parse(String(fields['data'])) as ReceivedEvent['data'] } as ReceivedEvent;
  }
  const states = (events: ReceivedEvent[]) =>
    events.filter(({ event }) => event === 'state').map(({ data }) => data['state']);
  const report = (id: string, text: string) =>
    api.store.eventLogs.report(id, 'worker-7', '', [JSON.stringify({ kind: 'output', at: Date.now() * 1_000, text })]);
  const eventsPath = (id: string) => `/api/v1/jobs/${id}/events`;

  it('a job: what has happened, then what happens, until its end', async () => {
    const id = await api.given.job({ state: 'RUNNING' });
    await report(id, 'a');

    const reading = read(eventsPath(id));
    await report(id, 'b');
    await api.store.jobs.move('*', id, 'succeed', { set: { result_ptr: `redis://res:${id}` } });
    const { events } = await reading;

    expect(states(events)).toEqual(['PENDING', 'DISPATCHED', 'RUNNING', 'SUCCEEDED']);
    expect(events.filter(({ event }) => event === 'output').map(({ data }) => data['text'])).toEqual(['a', 'b']);
    expect(events.at(-1)).toEqual({
      id: '4-2',
      event: 'end',
      data: { job_id: id, state: 'SUCCEEDED', result_ptr: `redis://res:${id}` },
    });
  });

  it('a client that continues after its last event misses nothing and repeats nothing', async () => {
    const id = await api.given.job({ state: 'RUNNING' });
    await report(id, 'a');
    const first = await read(eventsPath(id), 'viewer', { until: (events) => events.length === 4 });
    await report(id, 'b');
    await api.store.jobs.move('*', id, 'cancel');
    const last = first.events.at(-1)?.id ?? '';

    const second = await read(eventsPath(id), 'viewer', { after: last });
    const third = await read(eventsPath(id), 'viewer', { after: second.events.at(-1)?.id ?? '' });

    expect(first.events.map(({ event }) => event).sort()).toEqual(['output', 'state', 'state', 'state']);
    expect(second.events.map(({ event, data }) => [event, data['text'] ?? data['state']]).sort()).toEqual([
      ['end', 'CANCELLED'],
      ['output', 'b'],
      ['state', 'CANCELLED'],
    ]);
    expect(third).toEqual({ status: 204, events: [] });
  });

  it('a part of the log that is no longer kept is announced', async () => {
    const id = await api.given.job({ state: 'RUNNING' });
    for (let i = 0; i < 5; i++) await report(id, String(i));
    await api.store.redis.xtrim(api.store.keys.jobEvents(id), 'MAXLEN', 2);

    const { events } = await read(`${eventsPath(id)}?follow=false&last_event_id=3-1`);

    expect(events.map(({ event, data }) => [event, data['dropped'] ?? data['text']])).toEqual([
      ['gap', 2],
      ['output', '3'],
      ['output', '4'],
    ]);
  });

  it('partial output of a quarantined job is withheld', async () => {
    const id = await api.given.job({ state: 'RUNNING' });
    await report(id, 'classified');
    await api.store.jobs.move('*', id, 'quarantine', { set: { result_ptr: `redis://res:${id}` } });

    const { events } = await read(eventsPath(id));

    // Reports have the clock of their scheduler, transitions that of Redis.
    expect(events.map(({ event }) => event).sort()).toEqual(['end', 'state', 'state', 'state', 'state', 'withheld']);
    expect(JSON.stringify(events)).not.toMatch(/classified|redis:/);
  });

  it('404, 403 for other tenants, 429 beyond the streams of a tenant', async () => {
    const id = await api.given.job({ state: 'RUNNING' });
    expect((await read(eventsPath('nothing'))).status).toBe(404);
    expect((await read('/api/v1/workflow-runs/nothing/events')).status).toBe(404);
    for (const who of ['other', 'otherOperator', 'otherUser', 'otherViewer', 'otherClerk'] as const) {
      expect((await read(eventsPath(id), who)).status).toBe(403);
    }
    const open: ReturnType<typeof read>[] = [];
    while (open.length < 3) {
      await new Promise<void>((opened) => {
        open.push(read(eventsPath(id), 'viewer', { until: () => (opened(), false) }));
      });
    }
    expect((await read(eventsPath(id), 'viewer', { until: () => true })).status).toBe(429);
    await api.store.jobs.move('*', id, 'cancel');

    await Promise.all(open);
    await eventually(async () => expect((await read(eventsPath(id))).status).toBe(200));
  });

  it('a run: its timeline and the reports of its jobs, continued after a position', async () => {
    const runs = createRunClient(api);
    await runs.workflow({ pause: { type: 'delay', delay_sec: 600 } });
    const runId = await runs.run();
    // Only an engine writes the timeline.
    const timeline = [1, 2].map((n) =>
      JSON.stringify({ time_ms: n, type: 'step_started', run_id: runId, step_id: `s${n}` }),
    );
    await api.store.redis.rpush(api.store.keys.runTimeline(runId), ...timeline);
    const path = `/api/v1/workflow-runs/${runId}/events`;

    const { events } = await read(`${path}?follow=false`);
    const rest = await read(`${path}?follow=false&last_event_id=${events[0]?.id ?? ''}`);

    expect(events).toHaveLength(2);
    expect(events[0]).toMatchObject({ id: '1-0', event: 'timeline', data: { run_id: runId } });
    expect(rest.events).toEqual(events.slice(1));
    expect((await read(path, 'otherViewer')).status).toBe(403);
  });
});
