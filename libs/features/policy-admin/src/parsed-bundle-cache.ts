import { parsePolicy, type ParsedPolicy } from '@svc/policy';

/** Enough for the bundles of a large installation. */
const MAX_BUNDLES = 1_000;

/** Caches parsed bundles, so that a list does not parse every text again. */
export class ParsedBundleCache {
  private readonly kept = new Map<string, { content: string; parsed: ParsedPolicy }>();

  /** Parses the text of a stored bundle in load mode. */
  parse(id: string, content: string): ParsedPolicy {
    const found = this.kept.get(id);
    if (found?.content === content) return found.parsed;
    const parsed = parsePolicy(content, { source: id, mode: 'load' });
    if (this.kept.size >= MAX_BUNDLES) this.kept.clear();
    this.kept.set(id, { content, parsed });
    return parsed;
  }
}
