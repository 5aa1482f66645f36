import type { RiskTagDeriver } from './request';

/** Of a deriver that names no tiers of its own. */
const usualTiers = 'low=0,review=100,blocked=300';
const mostTiers = 20;

/**
 * Reads how risk tags are derived, as a topic's registration writes it: `amount-threshold`, or with tiers of its own
 * `amount-threshold:petty=0,large=5000`, each a tag and the amount from which it is given.
 *
 * @returns undefined for one that is not known here, so that the tags of the request stand
 */
export function parseDeriver(text: string): RiskTagDeriver | undefined {
  const [, given] = /^\s*amount-threshold\s*(?::(.*))?$/is.exec(text) ?? [];
  if (!/^\s*amount-threshold\s*(:|$)/i.test(text)) return undefined;
  const tiers = (given?.trim() || usualTiers).split(',').map((part) => {
    const [, tag, from] = /^\s*([^=\s]{1,128})\s*=\s*(\d{1,15}(?:\.\d{1,6})?)\s*$/.exec(part) ?? [];
    return tag !== undefined && from !== undefined ? { tag, from: Number(from) } : undefined;
  });
  const read = tiers.flatMap((tier) => tier ?? []);
  return read.length === tiers.length && read.length <= mostTiers
    ? { kind: 'amount-threshold', tiers: read }
    : undefined;
}
