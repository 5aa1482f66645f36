import { submitJob } from '@svc/contract';
import { eventually } from '@svc/testing';
import { useApi } from '../api.testing';
import { documentedCodes } from './requests.testing';

/** Patterns that make a backtracking engine run exponentially, with matching texts. */
const patterns = ['(a+)+$', '(a|aa)+$', '(.*a){12}b', '(x+x+)+y', '([a-zA-Z]+)*!', '(a?){20}a{20}b', '(?:a{0,50}){0,19}b', '[^b]*b?[^b]*c']; // prettier-ignore
const texts = ['a'.repeat(49_000) + '!', 'ab'.repeat(24_000), 'x'.repeat(49_000), 'é'.repeat(24_000)];

/**
 * Threads that scan are started by the first request. On a busy machine that takes longer than a decision may; after three such
 * decisions the kernel is not asked for half a minute.
 */
const patience = { withinMs: 60_000, everyMs: 100 };

const policy = (found: readonly string[]) => `
version: '1'
default_decision: deny
rules: [{id: all, decision: allow}]
input_rules:
${found.map((pattern, i) => `  - {id: r${i}, decision: deny, match: {content_patterns: [${JSON.stringify(pattern)}]}}`).join('\n')}
`;

describe('a policy of adversarial patterns', () => {
  const api = useApi();
  const codes = documentedCodes(submitJob);
  afterEach(() => api.policy());

  it('decides adversarial prompts in time, while other requests are served', async () => {
    await api.policy(policy(patterns));
    const submit = (prompt: string) => api.as('user').post('/api/v1/jobs', { prompt });
    const isServed = () => eventually(async () => expect((await submit('hello')).status).toBe(200), patience);
    await isServed();
    let served = 0;
    let isDone = false;
    const others = (async () => {
      while (!isDone) {
        expect((await api.anonymous.get('/readyz')).status).toBe(200);
        served += 1;
      }
    })();

    const answers = await Promise.all(texts.map(submit));
    isDone = true;
    await others;

    for (const { status, body } of answers) {
      if (status === 200) continue;
      expect(codes.get(status)).toContain(body['code']);
    }
    // Some timed out and got the decision of the fail mode, or none in time; otherwise this test proves nothing.
    const outcomes = answers.map(({ body }) => body['reason'] ?? body['code']);
    expect(outcomes).toContainEqual(
      expect.stringMatching(/^(the content scan did not end in its time|safety_unavailable)$/),
    );
    expect(served).toBeGreaterThan(0);
    // None of them keeps running after the next policy is loaded.
    await api.policy(policy(['never-used']));
    await isServed();
  }, 180_000);
});
