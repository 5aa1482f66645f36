import type { PoolTable } from '@svc/routing';
import { topicLabel } from '@svc/runtime';

/** The label `topic` of metrics: topics of the pool table by name, all others as `other`. */
export function poolTopicLabel(pools: () => PoolTable): (topic: string) => { topic: string } {
  const label = topicLabel();
  let known: PoolTable | undefined;
  return (name) => {
    const table = pools();
    if (table !== known) {
      known = table;
      label.know(Object.keys(table.topics));
    }
    return { topic: label.of(name) };
  };
}
