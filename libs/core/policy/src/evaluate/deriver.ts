import type { RiskTagDeriver } from './request';

/** For a deriver without tiers of its own. */
const usualTiers = 'low=0,review=100,blocked=300';
const MAX_TIERS = 20;

/**
 * Parses the risk tag deriver of a topic's registration: `amount-threshold`, or with its own tiers
 * `amount-threshold:petty=0,large=5000`, each a tag and its minimum amount.
 *
 * @returns undefined for an unknown deriver; then the tags of the request are used
 */
export function parseDeriver(text: string): RiskTagDeriver | undefined {
  const [, given] = /^\s*amount-threshold\s*(?::(.*))?$/is.exec(text) ?? [];
  if (!/^\s*amount-threshold\s*(:|$)/i.test(text)) return undefined;
  const tiers = (given?.trim() || usualTiers).split(',').map((part) => {
    const [, tag, from] = /^\s*([^=\s]{1,128})\s*=\s*(\d{1,15}(?:\.\d{1,6})?)\s*$/.exec(part) ?? [];
    return tag !== undefined && from !== undefined ? { tag, from: Number(from) } : undefined;
  });
  const read = tiers.flatMap((tier) => tier ?? []);
  return read.length === tiers.length && read.length <= MAX_TIERS
    ? { kind: 'amount-threshold', tiers: read }
    : undefined;
}
