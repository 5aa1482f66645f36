import type { CompiledRule } from './compile-rule';

const rememberedTopics = 1_024;

/**
 * Rules in their order, found by what their topic patterns begin with: of ten thousand rules a request is tried against
 * those that may fit its topic. What was found for a topic is remembered; the memory is bounded, since topics come from
 * callers.
 */
export class RuleSet {
  private readonly byTopic = new Map<string, readonly CompiledRule[]>();
  /** Places of rules by a beginning of topics; those that hold for every topic are under ''. */
  private readonly byPrefix = new Map<string, number[]>();
  /** How long those beginnings are, the shortest first. */
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

  /** The rules whose topic patterns fit, in order. */
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

/** Things of a narrow tier by the id their selector names, so that ten thousand job policies cost a request nothing. */
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

  /** What any of the request's keys selects, each once, in document order. */
  for(keys: () => ReadonlySet<string>): readonly T[] {
    if (this.byKey.size === 0) return [];
    const found = new Map<number, T>();
    for (const key of keys()) for (const { order, value } of this.byKey.get(key) ?? []) found.set(order, value);
    return [...found].sort(([a], [b]) => a - b).map(([, value]) => value);
  }
}
