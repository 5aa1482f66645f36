import { Deadlines } from './deadlines';

describe('deadlines', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('expire in order with one timer, whatever the order in which they were added', () => {
    const deadlines = new Deadlines();
    const expired: string[] = [];
    deadlines.add(300, () => expired.push('late'));
    deadlines.add(100, () => expired.push('early'));
    const removed = deadlines.add(200, () => expired.push('removed'));
    deadlines.remove(removed);

    expect(jest.getTimerCount()).toBe(1);
    jest.advanceTimersByTime(99);
    expect(expired).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(expired).toEqual(['early']);
    jest.advanceTimersByTime(200);
    expect(expired).toEqual(['early', 'late']);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('can be added while others expire', () => {
    const deadlines = new Deadlines();
    const expired: string[] = [];
    deadlines.add(10, () => deadlines.add(5, () => expired.push('second')));
    deadlines.add(50, () => expired.push('third'));

    jest.advanceTimersByTime(15);
    expect(expired).toEqual(['second']);
    jest.advanceTimersByTime(35);
    expect(expired).toEqual(['second', 'third']);
  });

  it('do not expire after a stop', () => {
    const deadlines = new Deadlines();
    deadlines.add(10, () => expect('expired').toBe('stopped'));

    deadlines.stop();

    expect(jest.getTimerCount()).toBe(0);
  });
});
