import { useRedisStore } from '@svc/fixtures/store';
import { keys } from '@svc/store';
import { ChatRepository } from './chat.repository';

const use = useRedisStore();
const chat = () => new ChatRepository(use.store.redis);
const say = (...numbers: number[]) => {
  const [first, ...rest] = numbers.map((n) => ({ n }));
  return first ? chat().append('run:1', [first, ...rest]) : Promise.resolve(-1);
};
const numbersIn = (items: { text: string }[]) => items.map(({ text }) => (JSON.parse(text) as { n: number }).n);
const upTo = (n: number) => Array.from({ length: n }, (_, i) => i);

describe('a conversation', () => {
  it('without messages has no pages', async () => {
    expect(await chat().page('run:1', 10)).toEqual({ items: [], next: null });
  });

  it('is paginated newest first, and lists each message once', async () => {
    await say(...upTo(5));

    const first = await chat().page('run:1', 2);
    const second = await chat().page('run:1', 2, first.next ?? undefined);
    const third = await chat().page('run:1', 2, second.next ?? undefined);

    expect([first, second, third].map(({ items }) => numbersIn(items))).toEqual([[4, 3], [2, 1], [0]]);
    expect([first, second, third].map(({ next }) => next)).toEqual([2, 0, null]);
  });

  it('keeps its newest 1000 messages', async () => {
    await say(...upTo(1_000));

    expect(await say(1_000, 1_001)).toBe(1_001);

    const { items, next } = await chat().page('run:1', 1_000);
    expect([numbersIn(items).at(0), numbersIn(items).at(-1), items.length, next]).toEqual([1_001, 2, 1_000, null]);
    expect(items.at(-1)?.position).toBe(2);
  });

  it('does not repeat a message when others are added and dropped between two pages', async () => {
    await say(...upTo(1_000));
    const first = await chat().page('run:1', 10);

    await say(1_000, 1_001, 1_002);

    const second = await chat().page('run:1', 10, first.next ?? undefined);
    expect(numbersIn(second.items)).toEqual([989, 988, 987, 986, 985, 984, 983, 982, 981, 980]);
    expect(await chat().page('run:1', 10, 1)).toEqual({ items: [], next: null });
  });

  it('assigns distinct positions to concurrent writers', async () => {
    const positions = await Promise.all(upTo(30).map((n) => say(n)));

    expect([...positions].sort((a, b) => a - b)).toEqual(upTo(30));
  });

  it('returns lines written by a worker unchanged', async () => {
    await use.redis.rpush(keys.messages('run:1'), 'no JSON');

    expect(await chat().page('run:1', 10)).toEqual({ items: [{ position: 0, text: 'no JSON' }], next: null });
  });
});
