import type { Facts } from './facts';

const plainParts: Readonly<Record<string, (facts: Facts) => string>> = {
  tenant: (facts) => facts.tenant,
  topic: (facts) => facts.topic,
  actor_id: (facts) => facts.actorId,
  actor_type: (facts) => facts.actorType,
  capability: (facts) => facts.capabilities[0] ?? '',
  pack_id: (facts) => facts.packId,
};

export const velocityKeyForm = `${Object.keys(plainParts).join(', ')} or labels.<key>, several joined with \`:\``;

/**
 * Compiles a velocity key such as `tenant:labels.customer`. The result is undefined for a request with an empty part,
 * since all such requests would share one counter. See docs/reference/policy.md#velocity.
 *
 * @returns undefined when the key is invalid
 */
export function compileVelocityKey(key: string): ((facts: Facts) => string | undefined) | undefined {
  const readers: ((facts: Facts) => string)[] = [];
  for (const part of key.split(':').map((text) => text.trim())) {
    const label = /^labels\.(.+)$/.exec(part)?.[1];
    const plain = Object.hasOwn(plainParts, part) ? plainParts[part] : undefined;
    if (label !== undefined) readers.push((facts) => facts.label(label)?.trim() ?? '');
    else if (plain) readers.push(plain);
    else return undefined;
  }
  return (facts) => {
    // A `:` inside a value is escaped, otherwise (a:b, c) and (a, b:c) would share a counter.
    const values = readers.map((read) => read(facts).replaceAll('%', '%25').replaceAll(':', '%3A'));
    return values.includes('') ? undefined : values.join(':');
  };
}
