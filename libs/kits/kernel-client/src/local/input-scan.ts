import type { ContentFinding, ContentNeeds, ScanContent, VelocityAnswer, VelocityCheck } from '@svc/policy';
import type { ScanAnswer, ScanQuestion } from '../scan/scan-messages';
import { needsKey, needsMessage } from '../scan/scan-texts';
import type { Counter } from './velocity';

interface Wanted {
  content: Uint8Array;
  needs: ContentNeeds;
}

/**
 * Decides a request whose content has to be scanned. Evaluation is synchronous, scanning is not: a first evaluation
 * without findings collects the patterns of all rules, a second one decides with the findings.
 * See docs/reference/policy.md#content-rules.
 *
 * @param evaluate runs once, or twice when content has to be scanned
 * @param scan rejects on failure or timeout, which the policy's fail mode handles
 */
export async function withInputScan<T>(
  evaluate: (scanContent: ScanContent) => Promise<T>,
  scan: (question: ScanQuestion) => Promise<ScanAnswer>,
  onFailure: (error: unknown) => void,
): Promise<T> {
  const wanted = new Map<string, Wanted>();
  const first = await evaluate((content, needs) => {
    wanted.set(needsKey(needs), { content, needs });
    return [];
  });
  const [some] = wanted.values();
  if (!some) return first;
  const { content } = some;
  const question = { texts: [content], needs: [...wanted.values()].map(({ needs }) => needsMessage(needs)), maxBytes: content.length }; // prettier-ignore
  const found = new Map<string, ContentFinding[]>();
  try {
    const answer = await scan(question);
    for (const [i, key] of [...wanted.keys()].entries()) found.set(key, answer[i]?.[0]?.findings ?? []);
  } catch (error) {
    onFailure(error);
  }
  return evaluate((_, needs) => found.get(needsKey(needs)) ?? 'overrun');
}

/** Caches window lookups, so that two evaluations count once, also for a request without a job. */
export function askedOnce(counter: Counter): Counter {
  const answers = new Map<string, Promise<VelocityAnswer>>();
  return (check: VelocityCheck) => {
    const key = JSON.stringify([check.ruleId, check.key]);
    const answer = answers.get(key) ?? counter(check);
    answers.set(key, answer);
    return answer;
  };
}
