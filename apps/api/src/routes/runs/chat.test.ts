import { useApi } from '../../api.testing';
import { statusAndCode } from '../../caller.testing';
import { createRunClient } from './given-runs.testing';

const api = useApi();
const runs = createRunClient(api);
const wait = { pause: { type: 'delay', delay_sec: 600 } };
const contents = ({ items }: { items: { content: string }[] }) => items.map(({ content }) => content);

describe('the chat of a run', () => {
  beforeEach(() => runs.workflow(wait));

  it('200: a posted message is returned as it is read, newest first', async () => {
    const id = await runs.run();
    const about = { step_id: 'pause', job_id: 'j', agent_id: 'a', agent_name: 'Ann', metadata: { mood: 'calm' } };

    const first = await runs.postMessage(id, { content: '  hello ', ...about });
    await runs.postMessage(id, { content: 'again' });

    expect(first.body).toMatchObject({ run_id: id, role: 'user', content: 'hello', ...about });
    const { items, next_cursor } = await runs.chat(id);
    expect(items[1]).toEqual(first.body);
    expect(contents({ items })).toEqual(['again', 'hello']);
    expect(next_cursor).toBeUndefined();
  });

  it('200: only admins post as agent or system; agent is stored as assistant', async () => {
    const id = await runs.run();
    for (const role of ['agent', 'assistant', 'system', 'user']) {
      await runs.postMessage(id, { content: role, role });
      await runs.postMessage(id, { content: role, role }, 'operator');
    }

    const roles = (await runs.chat(id)).items.reverse().map(({ role }) => role);
    expect(roles).toEqual(['agent', 'user', 'agent', 'user', 'system', 'user', 'user', 'user']);
    const [line = ''] = await api.store.redis.lrange(`mem:run:${id}:events`, 0, 0);
    expect(JSON.parse(line)).toMatchObject({ role: 'assistant' });
  });

  it('200: pages continue where the last one ended, despite concurrent messages; an invalid cursor is ignored', async () => {
    const id = await runs.run();
    for (const content of ['a', 'b', 'c']) await runs.postMessage(id, { content });

    const first = await runs.chat(id, '?limit=2');
    await runs.postMessage(id, { content: 'd' });

    expect(contents(first)).toEqual(['c', 'b']);
    expect(contents(await runs.chat(id, `?limit=2&cursor=${first.next_cursor}`))).toEqual(['a']);
    expect(contents(await runs.chat(id, '?limit=1&cursor=none'))).toEqual(['d']);
  });

  it('200: runs with the same memory share their chat, and an invalid line reads as a system message', async () => {
    const [a, b] = [await runs.run({ memory_id: 'mem:berth' }), await runs.run({ memory_id: 'berth' })];
    await runs.postMessage(a, { content: 'from a' });
    await api.store.redis.rpush('mem:berth:events', 'plain words', '{"role":"assistant","content":"hm"}', '7');

    const { items } = await runs.chat(b);

    expect(items.map(({ role, content }) => [role, content])).toEqual([
      ['system', '7'],
      ['agent', 'hm'],
      ['system', 'plain words'],
      ['user', 'from a'],
    ]);
  });

  describe('a memory that another tenant used first', () => {
    const line = '{"role":"assistant","content":"the answer of a worker"}';
    const denied = { status: 403, code: 'MEMORY_POLICY_VIOLATION' };
    const start = (memory_id: string, who: 'admin' | 'other') =>
      api.as(who).post(`/api/v1/workflows/${who === 'other' ? 'theirs' : 'flow'}/runs`, { memory_id });
    const submit = (memory_id: string, who: 'admin' | 'other') =>
      api.as(who).post('/api/v1/jobs', { prompt: 'x', topic: 'job.default', memory_id });
    const share = async (globs: string[]) => {
      const data = { context: { shared_memory_ids: globs } };
      expect((await api.as('admin').put('/api/v1/config', { scope: 'system', scope_id: 'default', data })).status).toBe(
        204,
      );
    };
    beforeEach(() => runs.workflow(wait, { id: 'theirs' }, 'other'));

    it.each(['berth', 'mem:berth', 'kb:payroll', 'session:7'])('%s: 403 for its runs and jobs', async (memory) => {
      await runs.run({ memory_id: memory });
      expect((await submit(memory, 'admin')).status).toBe(200);

      expect(statusAndCode(await start(memory, 'other'))).toEqual(denied);
      expect(statusAndCode(await submit(memory, 'other'))).toEqual(denied);
    });

    it('belongs to the tenant of the job or run in its name', async () => {
      const run = await runs.run();
      const { body } = await submit('notes', 'admin');

      for (const memory of [`run:${run}`, String(body['job_id'])]) {
        expect(statusAndCode(await start(memory, 'other'))).toEqual(denied);
        expect(statusAndCode(await submit(memory, 'other'))).toEqual(denied);
      }
    });

    it('is read by its tenant alone', async () => {
      await submit('kb:payroll', 'admin');
      await api.store.redis.rpush('mem:kb:payroll:events', line);

      const read = (who: 'admin' | 'other') => api.as(who).get('/api/v1/memory?key=mem:kb:payroll:events');

      expect((await read('admin')).status).toBe(200);
      expect((await read('other')).status).toBe(403);
    });

    it('is claimed by one of many tenants that name it concurrently', async () => {
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, i) => submit('new', i % 2 === 0 ? 'admin' : 'other')),
      );

      const statuses = answers.map(({ status }) => status);
      expect(statuses.filter((status) => status === 200)).toHaveLength(5);
      expect(new Set(statuses.filter((_, i) => i % 2 === 0)).size).toBe(1);
    });

    it('is open to all if the installation shares it; tenants still read only their own chat messages', async () => {
      await share(['berth*']);
      const [ours, theirs] = [
        await runs.run({ memory_id: 'berth' }),
        String((await start('berth', 'other')).body['run_id']),
      ];
      await runs.postMessage(ours, { content: 'ours' });
      await runs.postMessage(theirs, { content: 'theirs' }, 'other');

      expect(contents(await runs.chat(ours))).toEqual(['ours']);
      expect(contents(await runs.chat(theirs, '', 'other'))).toEqual(['theirs']);
      await share([]);
    });

    it('remains inaccessible in a run that started while it was shared', async () => {
      await runs.run({ memory_id: 'quay' });
      await share(['quay']);
      const theirs = String((await start('quay', 'other')).body['run_id']);
      await share([]);
      await api.store.redis.rpush('mem:quay:events', line);

      expect(contents(await runs.chat(theirs, '', 'other'))).toEqual([]);
      expect(statusAndCode(await runs.postMessage(theirs, { content: 'poison' }, 'other'))).toEqual(denied);
    });
  });

  it('400, 403, 404: an empty message, an unknown role, a viewer, another tenant, an unknown run', async () => {
    const id = await runs.run();

    expect(statusAndCode(await runs.postMessage(id, { content: '  ' }))).toEqual({
      status: 400,
      code: 'content_required',
    });
    expect(statusAndCode(await runs.postMessage(id, {}))).toEqual({ status: 400, code: 'content_required' });
    expect((await runs.postMessage(id, { content: 'x', role: 'captain' })).status).toBe(400);
    expect((await runs.postMessage(id, { content: 'x' }, 'viewer')).status).toBe(403);
    expect((await runs.postMessage(id, { content: 'x' }, 'other')).status).toBe(403);
    expect(statusAndCode(await runs.postMessage('none', { content: 'x' }))).toEqual({
      status: 404,
      code: 'run_not_found',
    });
  });
});
