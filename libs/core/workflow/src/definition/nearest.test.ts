import { hint, nearest } from './nearest';

describe('what the author may have meant', () => {
  it.each([
    ['timout_sec', 'timeout_sec'],
    ['depnds_on', 'depends_on'],
    ['tpye', 'type'],
    ['Retry', 'retry'],
    ['conditoin', 'condition'],
  ])('%s is %s', (word, meant) => {
    expect(nearest(word, ['type', 'retry', 'depends_on', 'timeout_sec', 'condition'])).toBe(meant);
  });

  it.each(['colour', 'x', ''])('%j is nothing known', (word) => {
    expect(nearest(word, ['type', 'retry', 'depends_on'])).toBeUndefined();
    expect(hint(word, ['type'])).toBe('');
  });

  it('of several it is the one with the fewest changes', () => {
    expect(nearest('steps3', ['step1', 'steps2', 'steps'])).toBe('steps2');
  });
});
