import { parsePolicy, type ParsedPolicy } from '@svc/policy';

/** As many texts as a large installation has bundles. */
const most = 1_000;

/** Bundles as they were parsed last, so that a list does not parse every text anew. */
export class ParsedBundles {
  private readonly kept = new Map<string, { content: string; parsed: ParsedPolicy }>();

  /** Reads the text of a stored bundle as a load does. */
  parse(id: string, content: string): ParsedPolicy {
    const found = this.kept.get(id);
    if (found?.content === content) return found.parsed;
    const parsed = parsePolicy(content, { source: id, mode: 'load' });
    if (this.kept.size >= most) this.kept.clear();
    this.kept.set(id, { content, parsed });
    return parsed;
  }
}
