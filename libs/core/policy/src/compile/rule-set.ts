import type { CompiledRule } from './compile-rule';

const rememberedTopics = 1_024;

/**
 * Rules in order, indexed by the prefixes of their topic patterns: of ten thousand rules a request is tried only against
 * those that may match its topic. Results are cached per topic; the cache is bounded, since topics come from callers.
 */
export class RuleSet {
  private readonly byTopic = new Map<string, readonly CompiledRule[]>();
  /** Positions of rules by topic prefix; those for every topic are under ''. */
  private readonly byPrefix = new Map<string, number[]>();
  /** Lengths of the prefixes, shortest first. */
  private readonly lengths: readonly number[];

  constructor(readonly all: readonly CompiledRule[]) {
    for (const [place, { topics }] of all.entries()) {
      for (const prefix of new Set(topics?.prefixes ?? [''])) {
        const places = this.byPrefix.get(prefix) ?? [];
        places.push(place);
        this.byPrefix.set(prefix, places);
      }
    }
    this.lengths = [...new Set([...this.byPrefix.keys()].map(({ length }) => length))].sort((a, b) => a - b);
  }

  /** The rules whose topic patterns match, in order. */
  forTopic(topic: string): readonly CompiledRule[] {
    const known = this.byTopic.get(topic);
    if (known) return known;
    const fitting = this.fitting(topic);
    if (this.byTopic.size >= rememberedTopics) this.byTopic.clear();
    this.byTopic.set(topic, fitting);
    return fitting;
  }

  private fitting(topic: string): CompiledRule[] {
    const places = new Set<number>();
    for (const length of this.lengths) {
      if (length > topic.length) break;
      for (const place of this.byPrefix.get(topic.slice(0, length)) ?? []) places.add(place);
    }
    return [...places]
      .sort((a, b) => a - b)
      .flatMap((place) => this.all[place] ?? [])
      .filter(({ topics }) => topics === undefined || topics.fit(topic));
  }
}

/** Items of a narrow tier by the id in their selector, so that ten thousand job policies cost a request nothing. */
export class Narrow<T> {
  private readonly byKey = new Map<string, { order: number; value: T }[]>();
  private size = 0;

  add(keys: readonly string[], value: T): void {
    this.size += 1;
    for (const key of new Set(keys)) {
      const list = this.byKey.get(key) ?? [];
      list.push({ order: this.size, value });
      this.byKey.set(key, list);
    }
  }

  /** The items selected by any of the request's keys, each once, in document order. */
  for(keys: () => ReadonlySet<string>): readonly T[] {
    if (this.byKey.size === 0) return [];
    const found = new Map<number, T>();
    for (const key of keys()) for (const { order, value } of this.byKey.get(key) ?? []) found.set(order, value);
    return [...found].sort(([a], [b]) => a - b).map(([, value]) => value);
  }
}
