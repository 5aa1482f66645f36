import type { ContentFinding, ContentNeeds, ScanContent, VelocityAnswer, VelocityCheck } from '@svc/policy';
import type { ScanAnswer, ScanQuestion } from '../scan/scan-messages';
import { needsKey, needsMessage } from '../scan/scan-texts';
import type { Counter } from './velocity';

interface Wanted {
  content: Uint8Array;
  needs: ContentNeeds;
}

/**
 * Decides a request whose content has to be scanned. Evaluation does not wait, scanning does: a first evaluation that
 * finds nothing tells what all rules would look for, a second one decides with what was found.
 * See docs/reference/policy.md#content-rules.
 *
 * @param evaluate is run once, or twice when something has to be scanned
 * @param scan rejects when the scan cannot be made in its time, which is for the policy's fail mode
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

/** A window that was asked about is not asked again: evaluating twice counts once, also for a request without a job. */
export function askedOnce(counter: Counter): Counter {
  const answers = new Map<string, Promise<VelocityAnswer>>();
  return (check: VelocityCheck) => {
    const key = JSON.stringify([check.ruleId, check.key]);
    const answer = answers.get(key) ?? counter(check);
    answers.set(key, answer);
    return answer;
  };
}
