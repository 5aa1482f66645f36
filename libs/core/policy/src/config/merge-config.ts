import { settingMerge, type MergeField, type MergeRule } from '@svc/contract';
import { isRecord } from '@svc/json';
import { joinAllowLists, sortUnique, splitAllowLists } from './allow-lists';

/** The data of a config document, and the scope of the document. */
export interface ConfigLayer {
  scope: string;
  data: Readonly<Record<string, unknown>>;
}

interface Contribution {
  value: unknown;
  isNarrow: boolean;
}

/**
 * The effective configuration of config documents, broadest first. Each setting merges as declared (`settingMerge`): the
 * stricter value of a restricting setting wins, in any order of documents; for all others, and for undeclared settings and
 * sections, the narrowest document wins.
 *
 * Documents of teams, workflows and steps can only tighten: a value that is laxer than the default has no effect
 * while the system and the org set none, since a submitter chooses the team.
 */
export function mergeConfig(layers: readonly ConfigLayer[]): Record<string, unknown> {
  const whole = layers.reduce<Record<string, unknown>>((all, { data }) => ({ ...all, ...data }), {});
  const merged = Object.entries(settingMerge).flatMap(([name, field]) => {
    if (field.rule || !Object.hasOwn(whole, name)) return [];
    const section = mergeGroup(field, [name], layers);
    return section === undefined ? [] : [[name, section] as const];
  });
  return { ...whole, ...Object.fromEntries(merged) };
}

function mergeGroup({ fields = {} }: MergeField, path: readonly string[], layers: readonly ConfigLayer[]): unknown {
  const values = layers.map(({ data }) => readPath(data, path)).filter(isSet);
  const groups = values.filter(isRecord);
  // An unreadable group does not hide a readable one; alone it is kept, so that readers can fail closed.
  if (groups.length === 0) return values.at(-1);
  const plain = groups.reduce<Record<string, unknown>>((all, group) => ({ ...all, ...group }), {});
  const merged = Object.entries(fields).flatMap(([name, field]) => {
    if (!field.fields && !restricts(field)) return [];
    const value = field.fields
      ? mergeGroup(field, [...path, name], layers)
      : mergeSetting(field, [...path, name], layers);
    return [[name, value] as const];
  });
  const all = { ...plain, ...Object.fromEntries(merged) };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

const restricts = ({ rule }: MergeField): boolean => rule !== undefined && rule.kind !== 'narrowest';

/** The value of a restricting setting; undefined when no document sets a readable one. */
function mergeSetting(field: MergeField, path: readonly string[], layers: readonly ConfigLayer[]): unknown {
  const { rule } = field;
  if (!rule) return undefined;
  const contributions = layers.flatMap(({ scope, data }): Contribution[] => {
    const value = readContribution(rule, data, path);
    return isSet(value) ? [{ value, isNarrow: scope !== 'system' && scope !== 'org' }] : [];
  });
  if (contributions.length === 0) return undefined;
  const values = contributions.map(({ value }) => value);
  const onlyTightens = contributions.every(({ isNarrow }) => isNarrow);
  switch (rule.kind) {
    case 'limit':
      return layers.some(({ data }) => isSet(readPath(data, path))) ? smallestLimit(values) : undefined;
    case 'lowest':
      return smallest((onlyTightens ? [...values, field.default] : values).filter(isAmount));
    case 'added':
      return (
        smallestAddition(layers.map(({ data }) => readSum(rule.to, data, path))) ?? smallest(values.filter(isAmount))
      );
    case 'strictest':
      return onlyTightens ? strictestWithin(rule.order, values, field.default) : strictest(rule.order, values);
    case 'every_list':
      return joinAllowLists(values);
    case 'union':
      return joinDenyLists(onlyTightens && isSet(field.default) ? [...values, field.default] : values);
    case 'switches':
      return mergeSwitches(values);
    case 'joined':
    case 'narrowest':
    case 'layers':
      return undefined;
  }
}

/** The value of one document, combined with the other settings that the rule names. */
function readContribution(rule: MergeRule, data: ConfigLayer['data'], path: readonly string[]): unknown {
  const own = readPath(data, path);
  switch (rule.kind) {
    case 'limit':
      return isAmount(own) || rule.otherwise === undefined ? own : readPath(data, rule.otherwise.split('.'));
    case 'every_list': {
      const other = rule.joins === undefined ? undefined : readPath(data, [...path.slice(0, -1), rule.joins]);
      if (!isSet(other) || !isSet(own)) return isSet(own) ? own : other;
      // Both name the same list. Lists of several documents are already complete, so the other one restricts too.
      const isFlat = splitAllowLists(own).length === 1 && Array.isArray(own) && Array.isArray(other);
      return isFlat ? [...(own as unknown[]), ...(other as unknown[])] : joinAllowLists([own, other]);
    }
    default:
      return own;
  }
}

const isSet = (value: unknown): boolean => value !== undefined && value !== null;
const isAmount = (value: unknown): value is number => typeof value === 'number' && value >= 0;
const smallest = (values: readonly number[]): number | undefined =>
  values.length === 0 ? undefined : Math.min(...values);

/** 0 means unlimited. */
function smallestLimit(values: readonly unknown[]): number | undefined {
  const amounts = values.filter(isAmount);
  return smallest(amounts.filter((amount) => amount > 0)) ?? smallest(amounts);
}

interface Sum {
  limit: number;
  added: number;
}

/** A limit of one document plus the document's addition to it; 0 or a missing limit means unlimited. */
function readSum(to: readonly string[], data: ConfigLayer['data'], path: readonly string[]): Sum {
  const limit = to.map((name) => readPath(data, name.split('.'))).find(isAmount) ?? 0;
  const added = readPath(data, path);
  return { limit, added: isAmount(added) ? added : 0 };
}

function smallestAddition(sums: readonly Sum[]): number | undefined {
  const limited = sums.filter(({ limit }) => limit > 0);
  const sum = smallest(limited.map(({ limit, added }) => limit + added));
  return sum === undefined ? undefined : sum - Math.min(...limited.map(({ limit }) => limit));
}

type Order = readonly unknown[];

const strictest = (order: Order, values: readonly unknown[]): unknown => order.find((value) => values.includes(value));

/** The same, never laxer than the default. Without a default the laxest value may be laxer than what is in effect. */
function strictestWithin(order: Order, values: readonly unknown[], standard: unknown): unknown {
  return isSet(standard) ? strictest(order, [...values, standard]) : strictest(order.slice(0, -1), values);
}

/** A value that is not a list becomes an entry that is not a string, so that a strict reader still rejects it. */
function joinDenyLists(values: readonly unknown[]): unknown {
  const [only, ...others] = values;
  if (others.length === 0) return only;
  return sortUnique(values.flatMap((value): unknown[] => (Array.isArray(value) ? (value as unknown[]) : [[value]])));
}

/** Per name the settings of all documents, the narrowest last; `enabled: false` of any document wins. */
function mergeSwitches(values: readonly unknown[]): unknown {
  const maps = values.filter(isRecord);
  const names = sortUnique(maps.flatMap((map) => Object.keys(map))) as string[];
  return Object.fromEntries(
    names.map((name) => {
      const entries = maps.flatMap((map) => (Object.hasOwn(map, name) && isRecord(map[name]) ? [map[name]] : []));
      const isOff = entries.some(({ enabled }) => enabled === false);
      const all = entries.reduce((merged, entry) => ({ ...merged, ...entry }), {});
      return [name, isOff ? { ...all, enabled: false } : all];
    }),
  );
}

function readPath(data: ConfigLayer['data'], path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) => (isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined),
    data,
  );
}
