import { hint, nearest } from './nearest';

describe('suggestion for an unknown name', () => {
  it.each([
    ['timout_sec', 'timeout_sec'],
    ['depnds_on', 'depends_on'],
    ['tpye', 'type'],
    ['Retry', 'retry'],
    ['conditoin', 'condition'],
  ])('%s is %s', (word, meant) => {
    expect(nearest(word, ['type', 'retry', 'depends_on', 'timeout_sec', 'condition'])).toBe(meant);
  });

  it.each(['colour', 'x', ''])('%j has no suggestion', (word) => {
    expect(nearest(word, ['type', 'retry', 'depends_on'])).toBeUndefined();
    expect(hint(word, ['type'])).toBe('');
  });

  it('is the candidate with the fewest edits', () => {
    expect(nearest('steps3', ['step1', 'steps2', 'steps'])).toBe('steps2');
  });
});
