import type { Model } from '@svc/testing';

/** Bundles as seen by a caller: the text of each, and whether it is in effect. */
export type Bundles = Readonly<Record<string, readonly [content: string, enabled: boolean]>>;

/** An operation on the policy document. */
export type PolicyCall =
  | { kind: 'put'; id: string; content: string; enabled: boolean }
  | { kind: 'put_all'; contents: Readonly<Record<string, string>> }
  | { kind: 'remove'; id: string }
  | { kind: 'get'; id: string }
  | { kind: 'list' }
  | { kind: 'publish' }
  | { kind: 'roll_back'; target: Bundles };

/** Result of an operation. A conflict is a lost race with another write; the service may report spurious ones. */
export type PolicyAnswer =
  | { kind: 'done' }
  | { kind: 'conflict' }
  | { kind: 'missing' }
  | { kind: 'bundles'; bundles: Bundles }
  /** Snapshots taken by a publish or rollback, if still stored. */
  | { kind: 'changed'; before: Bundles | undefined; after: Bundles | undefined };

/** Sequential model of the policy document. See docs/reference/policy.md#bundles. */
export const policyModel: Model<Bundles, PolicyCall, PolicyAnswer> = {
  begin: {},
  step(state, call, answer) {
    if (answer?.kind === 'conflict') return call.kind === 'get' || call.kind === 'list' ? undefined : state;
    const isThere = !('id' in call) || Object.hasOwn(state, call.id);
    if (answer?.kind === 'missing') return isThere ? undefined : state;
    switch (call.kind) {
      case 'put':
        return { ...state, [call.id]: [call.content, call.enabled] };
      case 'put_all':
        return { ...state, ...Object.fromEntries(Object.entries(call.contents).map(([id, text]) => [id, [text, state[id]?.[1] ?? true] as const])) }; // prettier-ignore
      case 'remove':
        return isThere ? without(state, call.id) : undefined;
      case 'get':
        return isThere && seen(answer, { [call.id]: state[call.id] ?? ['', false] }) ? state : undefined;
      case 'list':
        return seen(answer, state) ? state : undefined;
      case 'publish':
        return changed(answer, state, enabled(state));
      case 'roll_back':
        return changed(answer, state, call.target);
    }
  },
  key: toKey,
};

function changed(answer: PolicyAnswer | undefined, before: Bundles, after: Bundles): Bundles | undefined {
  if (answer?.kind !== 'changed') return answer === undefined ? after : undefined;
  const fits = (kept: Bundles | undefined, state: Bundles) => kept === undefined || toKey(kept) === toKey(state);
  return fits(answer.before, before) && fits(answer.after, after) ? after : undefined;
}

const seen = (answer: PolicyAnswer | undefined, bundles: Bundles): boolean =>
  answer === undefined || (answer.kind === 'bundles' && toKey(answer.bundles) === toKey(bundles));
const enabled = (bundles: Bundles): Bundles =>
  Object.fromEntries(Object.entries(bundles).map(([id, [content]]) => [id, [content, true] as const]));
const without = (bundles: Bundles, id: string): Bundles =>
  Object.fromEntries(Object.entries(bundles).filter(([each]) => each !== id));

function toKey(bundles: Bundles): string {
  return JSON.stringify(Object.entries(bundles).sort(([a], [b]) => (a < b ? -1 : 1)));
}
