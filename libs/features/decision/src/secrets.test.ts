import { markSecrets } from './secrets';

const request = { topic: 'job.default', labels: { a: '1' }, risk_tags: ['pii'] };

describe('marking requests that refer to secrets', () => {
  it('adds one risk tag and one label for any number of references', () => {
    const marked = markSecrets(request, 'secret://a', { b: ['secret://c'] });

    expect(marked).toEqual({
      topic: 'job.default',
      labels: { a: '1', secrets_present: 'true' },
      risk_tags: ['pii', 'secrets'],
    });
    expect(markSecrets(marked, 'secret://a')).toEqual(marked);
  });

  it('returns the request unchanged without a reference at the start of a string', () => {
    expect(markSecrets(request, 'see secret://a', { 'secret://key': 'x' }, null, undefined, 7)).toBe(request);
  });
});
