import { Ajv, type Options } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019';
import { Ajv2020 } from 'ajv/dist/2020';
import draft6 from 'ajv/dist/refs/json-schema-draft-06.json';
import type { Budget } from './budget';
import { addFormats, addKeywords } from './keywords';
import { re2Engine } from './patterns';

export type Dialect = '2020-12' | '2019-09' | 'draft-07' | 'draft-06';

const dialects: Readonly<Record<string, Dialect>> = {
  'https://json-schema.org/draft/2020-12/schema': '2020-12',
  'https://json-schema.org/draft/2019-09/schema': '2019-09',
  'http://json-schema.org/draft-07/schema': 'draft-07',
  'https://json-schema.org/draft-07/schema': 'draft-07',
  'http://json-schema.org/draft-06/schema': 'draft-06',
};

/**
 * The dialect named by `$schema`, 2020-12 by default; undefined if it is not supported.
 * See docs/reference/routing.md#schemas.
 */
export function getDialect(document: Record<string, unknown>): Dialect | undefined {
  const named = document['$schema'];
  if (named === undefined) return '2020-12';
  return typeof named === 'string' ? dialects[named.replace(/#$/, '')] : undefined;
}

export const supportedDialects = Object.keys(dialects);

const options: Options = {
  strict: false,
  logger: false,
  validateSchema: false,
  // Ignores properties inherited from Object.prototype.
  ownProperties: true,
  // Inlining references could make the generated code grow exponentially.
  inlineRefs: false,
};

const kinds = { '2020-12': Ajv2020, '2019-09': Ajv2019, 'draft-07': Ajv, 'draft-06': Ajv };

/** Creates a compiler without other schemas, whose checks consume the budget. */
export function createCompiler(dialect: Dialect, budget: Budget, allErrors: boolean): Ajv {
  // Ajv's optimizer dominates the compile time of large schemas, and V8 optimizes the code anyway.
  const ajv = new kinds[dialect]({
    ...options,
    meta: false,
    allErrors,
    code: { regExp: re2Engine(budget), optimize: false },
  });
  addKeywords(ajv, budget);
  addFormats(ajv, budget);
  return ajv;
}

const metas = new Map<Dialect, Ajv>();

/** The validator of schemas of a dialect. Created on first use, because that is slow. */
export function getMetaValidator(dialect: Dialect): Ajv {
  const made = metas.get(dialect) ?? new kinds[dialect]({ strict: false, logger: false });
  if (!metas.has(dialect)) {
    if (dialect === 'draft-06') made.addMetaSchema(draft6);
    metas.set(dialect, made);
  }
  return made;
}
