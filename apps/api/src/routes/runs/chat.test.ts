import { useApi } from '../../api.testing';
import { told } from '../../caller.testing';
import { runsOf } from './given-runs.testing';

const api = useApi();
const runs = runsOf(api);
const wait = { pause: { type: 'delay', delay_sec: 600 } };
const contents = ({ items }: { items: { content: string }[] }) => items.map(({ content }) => content);

describe('the chat of a run', () => {
  beforeEach(() => runs.workflow(wait));

  it('200: what is said is answered as it is read, newest first', async () => {
    const id = await runs.run();
    const about = { step_id: 'pause', job_id: 'j', agent_id: 'a', agent_name: 'Ann', metadata: { mood: 'calm' } };

    const first = await runs.say(id, { content: '  hello ', ...about });
    await runs.say(id, { content: 'again' });

    expect(first.body).toMatchObject({ run_id: id, role: 'user', content: 'hello', ...about });
    const { items, next_cursor } = await runs.chat(id);
    expect(items[1]).toEqual(first.body);
    expect(contents({ items })).toEqual(['again', 'hello']);
    expect(next_cursor).toBeUndefined();
  });

  it('200: only admins speak as agent or system; agent is stored as assistant', async () => {
    const id = await runs.run();
    for (const role of ['agent', 'assistant', 'system', 'user']) {
      await runs.say(id, { content: role, role });
      await runs.say(id, { content: role, role }, 'operator');
    }

    const said = (await runs.chat(id)).items.reverse().map(({ role }) => role);
    expect(said).toEqual(['agent', 'user', 'agent', 'user', 'system', 'user', 'user', 'user']);
    const [line = ''] = await api.store.redis.lrange(`mem:run:${id}:events`, 0, 0);
    expect(JSON.parse(line)).toMatchObject({ role: 'assistant' });
  });

  it('200: pages go on where the last ended, whatever is said meanwhile; a bad cursor is ignored', async () => {
    const id = await runs.run();
    for (const content of ['a', 'b', 'c']) await runs.say(id, { content });

    const first = await runs.chat(id, '?limit=2');
    await runs.say(id, { content: 'd' });

    expect(contents(first)).toEqual(['c', 'b']);
    expect(contents(await runs.chat(id, `?limit=2&cursor=${first.next_cursor}`))).toEqual(['a']);
    expect(contents(await runs.chat(id, '?limit=1&cursor=none'))).toEqual(['d']);
  });

  it('200: runs with the same memory share their chat, and a line that is no message reads as the system’s', async () => {
    const [a, b] = [await runs.run({ memory_id: 'mem:berth' }), await runs.run({ memory_id: 'berth' })];
    await runs.say(a, { content: 'from a' });
    await api.store.redis.rpush('mem:berth:events', 'plain words', '{"role":"assistant","content":"hm"}', '7');

    const { items } = await runs.chat(b);

    expect(items.map(({ role, content }) => [role, content])).toEqual([
      ['system', '7'],
      ['agent', 'hm'],
      ['system', 'plain words'],
      ['user', 'from a'],
    ]);
  });

  it('200: another tenant that names the same memory is not told what was said', async () => {
    const id = await runs.run({ memory_id: 'berth' });
    await runs.say(id, { content: 'secret' });
    await runs.workflow(wait, { id: 'theirs' }, 'other');
    const theirs = await runs.run({ memory_id: 'berth' }, { workflow: 'theirs', who: 'other' });

    expect((await runs.chat(theirs, '', 'other')).items).toEqual([]);
    expect(contents(await runs.chat(id))).toEqual(['secret']);
  });

  it('400, 403, 404: nothing said, an unknown role, a viewer, another tenant, no such run', async () => {
    const id = await runs.run();

    expect(told(await runs.say(id, { content: '  ' }))).toEqual({ status: 400, code: 'content_required' });
    expect(told(await runs.say(id, {}))).toEqual({ status: 400, code: 'content_required' });
    expect((await runs.say(id, { content: 'x', role: 'captain' })).status).toBe(400);
    expect((await runs.say(id, { content: 'x' }, 'viewer')).status).toBe(403);
    expect((await runs.say(id, { content: 'x' }, 'other')).status).toBe(403);
    expect(told(await runs.say('none', { content: 'x' }))).toEqual({ status: 404, code: 'run_not_found' });
  });
});
