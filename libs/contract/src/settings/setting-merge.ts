import type Joi from 'joi';

/**
 * How the values that several config documents give one setting combine. All rules but `narrowest` and `layers` restrict:
 * their result is at least as strict as every single document, whatever the order of the documents.
 */
export type MergeRule =
  /** The narrowest document that sets it. */
  | { kind: 'narrowest' }
  /** Not merged: each layer has its own limits, see `budgetsOf`. */
  | { kind: 'layers' }
  /** The smallest number, where 0 = no limit. A document that does not set it contributes its setting `otherwise`. */
  | { kind: 'limit'; otherwise?: string }
  /** The smallest number. */
  | { kind: 'lowest' }
  /**
   * A number that a document adds to its limit, which is the first of the settings `to` that it sets. The sum of the merged
   * limit and the merged number is the smallest sum of any document.
   */
  | { kind: 'added'; to: readonly string[] }
  /** The value that comes first in `order`. */
  | { kind: 'strictest'; order: readonly (string | boolean)[] }
  /** Allow list: an entry of every list must match. `joins` is a shorter name of the same list. */
  | { kind: 'every_list'; joins?: string }
  /** The shorter name of an allow list, which is merged under `into`. */
  | { kind: 'joined'; into: string }
  /** Deny list: the entries of all lists. */
  | { kind: 'union' }
  /** Switches by name: off if any document turns it off. */
  | { kind: 'switches' };

const declare =
  <R extends MergeRule>(rule: R) =>
  (schema: Joi.Schema): Joi.Schema =>
    schema.meta({ merge: rule });

/** Attach a rule to the schema of a setting, or of a section whose settings all have the same. */
export const merged = {
  narrowest: declare({ kind: 'narrowest' }),
  limit: declare({ kind: 'limit' }),
  limitOr: (otherwise: string, schema: Joi.Schema) => declare({ kind: 'limit', otherwise })(schema),
  lowest: declare({ kind: 'lowest' }),
  addedTo: (to: readonly string[], schema: Joi.Schema) => declare({ kind: 'added', to })(schema),
  strictest: (order: readonly (string | boolean)[], schema: Joi.Schema) =>
    declare({ kind: 'strictest', order })(schema),
  /** A protection: true if any document sets it to true. */
  onWins: declare({ kind: 'strictest', order: [true, false] }),
  /** A permission: false if any document sets it to false. */
  offWins: declare({ kind: 'strictest', order: [false, true] }),
  everyList: declare({ kind: 'every_list' }),
  everyListWith: (joins: string, schema: Joi.Schema) => declare({ kind: 'every_list', joins })(schema),
  joined: (into: string, schema: Joi.Schema) => declare({ kind: 'joined', into })(schema),
  union: declare({ kind: 'union' }),
  switches: declare({ kind: 'switches' }),
} as const;

/** A section that is taken as a whole from the narrowest document that contains it. */
export const wholeSection = (schema: Joi.ObjectSchema): Joi.ObjectSchema =>
  schema.meta({ merge: { kind: 'narrowest' } satisfies MergeRule });

/** A section that is not merged, since each layer has its own limits. */
export const layeredSection = (schema: Joi.ObjectSchema): Joi.ObjectSchema =>
  schema.meta({ merge: { kind: 'layers' } satisfies MergeRule });

/** The merge rule of a setting, or of a group of settings. */
export interface MergeField {
  /** Absent for a group, and for a setting that declares no rule. */
  rule?: MergeRule;
  default?: unknown;
  /** Settings of a group; absent for a setting. */
  fields?: Readonly<Record<string, MergeField>>;
}

interface SchemaDescription {
  metas?: readonly { merge?: MergeRule }[];
  flags?: { default?: unknown };
  keys?: Record<string, SchemaDescription>;
}

/** The merge rules that a schema declares. */
export const readMergeField = (schema: Joi.Schema): MergeField => toField(schema.describe() as SchemaDescription);

function toField({ metas = [], flags, keys = {} }: SchemaDescription): MergeField {
  const rule = metas.find(({ merge }) => merge !== undefined)?.merge;
  const fields = Object.entries(keys).map(([name, inner]) => [name, toField(inner)] as const);
  return {
    ...(rule && { rule }),
    ...(flags?.default !== undefined && { default: flags.default }),
    ...(fields.length > 0 && { fields: Object.fromEntries(fields) }),
  };
}

/** A rule in words, for documentation. */
export function describeMergeRule(rule: MergeRule): string {
  switch (rule.kind) {
    case 'narrowest':
      return 'narrowest';
    case 'layers':
      return 'each layer counts';
    case 'limit':
      return rule.otherwise
        ? `smallest, 0 aside; a document without it counts with ${rule.otherwise}`
        : 'smallest, 0 aside';
    case 'lowest':
      return 'smallest';
    case 'added':
      return 'smallest sum with the limit of its document';
    case 'strictest':
      return `first of ${rule.order.join(', ')}`;
    case 'every_list':
      return 'a match in every list';
    case 'joined':
      return `with ${rule.into}`;
    case 'union':
      return 'all entries';
    case 'switches':
      return 'off wins';
  }
}
