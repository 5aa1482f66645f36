import { buildPolicyContent, readPolicyContent, toPolicyContent } from './policy-content';

describe('the content that policy reads', () => {
  it('is the same from the request and from the stored document', () => {
    for (const context of [undefined, { amount: 3, prompt: 'other' }, 'text', [1], null]) {
      const content = buildPolicyContent('hi', context);
      const document = { prompt: 'hi', context };

      expect(toPolicyContent(document)).toBe(content);
      expect(readPolicyContent(Buffer.from(JSON.stringify(document)))).toBe(content);
    }
  });

  it('has an empty prompt for a missing document', () => {
    expect(JSON.parse(readPolicyContent(null))).toEqual({ prompt: '' });
  });

  it('is the text itself when the stored input is not JSON', () => {
    expect(readPolicyContent(Buffer.from('DROP TABLE'))).toBe('DROP TABLE');
  });
});
