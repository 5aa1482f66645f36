import type { CompiledRule } from './compile-rule';

const rememberedTopics = 1_024;

/**
 * Rules in their order. Which of them can match a topic at all is found out once for each topic, so that a request is
 * tried against few of a thousand rules. The memory is bounded, since topics come from callers.
 */
export class RuleSet {
  private readonly byTopic = new Map<string, readonly CompiledRule[]>();

  constructor(readonly all: readonly CompiledRule[]) {}

  /** The rules whose topic patterns fit, in order. */
  forTopic(topic: string): readonly CompiledRule[] {
    const known = this.byTopic.get(topic);
    if (known) return known;
    const fitting = this.all.filter(({ topics }) => topics === undefined || topics(topic));
    if (this.byTopic.size >= rememberedTopics) this.byTopic.clear();
    this.byTopic.set(topic, fitting);
    return fitting;
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
  for(keys: ReadonlySet<string>): T[] {
    if (this.byKey.size === 0) return [];
    const found = new Map<number, T>();
    for (const key of keys) for (const { order, value } of this.byKey.get(key) ?? []) found.set(order, value);
    return [...found].sort(([a], [b]) => a - b).map(([, value]) => value);
  }
}
