import type Joi from 'joi';
import { getFields } from './fuzz/requests.testing';

/** Returns the text for a field such as `jobs.submit labels`. */
export type Words = (place: string) => string;

interface SchemaDescription {
  type?: string;
  flags?: { only?: boolean; presence?: string };
  allow?: unknown[];
  keys?: object;
}

const describe = (schema: Joi.Schema) => schema.describe() as SchemaDescription;

/** A body with a text in each free-text field; fields of other formats are omitted unless required. */
export function filledBody(schema: Joi.ObjectSchema, words: Words, place: string): Record<string, unknown> {
  const fields = getFields(schema).map((field) => [field, filled(schema.extract(field), words, `${place} ${field}`)]);
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined)) as Record<string, unknown>;
}

/** Fields of any depth with formatted text, such as times, for which values cannot be generated. */
export function fieldsOfAForm(schema: Joi.ObjectSchema, path: readonly string[] = []): string[] {
  return getFields(schema).flatMap((field) => {
    const inner = schema.extract(field);
    const { type, keys, flags } = describe(inner);
    const here = [...path, field];
    if (type === 'object' && keys) return fieldsOfAForm(inner as Joi.ObjectSchema, here);
    if (flags?.only || type === 'boolean' || type === 'number') return [];
    return filled(inner, () => 'x1', '') === undefined ? [here.join('.')] : [];
  });
}

function filled(schema: Joi.Schema, words: Words, place: string): unknown {
  const { type, flags, allow = [], keys } = describe(schema);
  if (type === 'object' && keys) return filledBody(schema as Joi.ObjectSchema, words, place);
  const isRequired = flags?.presence === 'required';
  if (type === 'boolean' || flags?.only) return isRequired ? (allow.find(Boolean) ?? true) : undefined;
  const word = words(place);
  const map = { [words(`${place} key`)]: word };
  const candidates = type === 'any' ? [map, word] : [word, `job.${word}`, [word], map, ...(isRequired ? [1] : [])];
  return candidates.find((value) => schema.validate(value, { convert: false }).error === undefined);
}
