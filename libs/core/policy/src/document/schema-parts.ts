import { shape } from '@svc/contract';
import Joi from 'joi';
import { globFault } from '../compile/glob';
import { regexFault } from '../compile/regex';
import type { Scalar } from './policy-document';
import { canonicalWord } from './words';

/** A list or map key without a value (`rules:`) is treated as absent. */
const unwritten = Joi.valid(null);

/** Messages for Joi's errors. Each says how to fix the value; the position comes from the YAML node. */
export const messages = {
  fault: '{{#detail}}',
  'any.required': 'is missing: add it',
  'any.only': 'must be one of {{#valids}}',
  'string.base': 'must be text: put it in quotes if it looks like something else',
  'string.empty': 'must not be empty: write a value, or leave the key out',
  'string.max': 'must be at most {{#limit}} characters long',
  'number.base': 'must be a number, without quotes',
  'number.integer': 'must be a whole number',
  'number.min': 'must be at least {{#limit}}',
  'number.max': 'must be at most {{#limit}}',
  'number.unsafe': 'is too large a number',
  'boolean.base': 'must be true or false, without quotes',
  'array.base': 'must be a list, such as [a, b]',
  'array.min': 'must have at least {{#limit}} entry',
  'object.base': 'must be a map of keys and values',
  'object.pattern.match': 'has a key that cannot be used here',
  'alternatives.types': 'must be text, a number, or true or false',
  'alternatives.match': 'must be text, a number, or true or false',
};

/** `shape`, with a message for unknown keys that lists the known ones. */
export function section<T extends object>(fields: Parameters<typeof shape<T>>[0]): Joi.ObjectSchema<T> {
  const known = [...Object.keys(fields.required), ...Object.keys(fields.optional ?? {})].sort();
  const text = `is not a key known here: correct its spelling or remove it; known are ${known.join(', ')}`;
  return shape<T>(fields).messages({ 'object.unknown': text }).empty(unwritten);
}

/** A leaf with a custom check: `fault` returns the message, or undefined. */
export const checked = (fault: (text: string) => string | undefined): Joi.StringSchema =>
  Joi.string().custom((text: string, helpers) => {
    const detail = fault(text);
    return detail === undefined ? text : helpers.error('fault', { detail });
  });

/**
 * One of a closed set of words, in any spelling `canonicalWord` accepts. With `atLoad`, an unknown word is read as that
 * one when a stored document is loaded, so that the policy fails closed; a write rejects it.
 */
export const word = <const Word extends string>(allowed: readonly Word[], atLoad?: Word): Joi.Schema<Word> =>
  Joi.any().custom((text: unknown, helpers) => {
    const found = typeof text === 'string' ? allowed.find((each) => each === canonicalWord(text)) : undefined;
    if (found !== undefined) return found;
    if (atLoad !== undefined && helpers.prefs.context?.['mode'] === 'load') return atLoad;
    return helpers.error('fault', { detail: `${JSON.stringify(text)} is not one of ${allowed.join(', ')}` });
  });

export const text = Joi.string().max(4_096);
export const name = Joi.string().max(512);
export const flag = Joi.boolean().strict();
export const count = Joi.number().integer().min(0);
export const positive = Joi.number().integer().min(1);
export const scalar: Joi.Schema<Scalar> = Joi.alternatives().try(Joi.string().allow(''), Joi.number(), Joi.boolean());

export const listOf = <T>(item: Joi.Schema<T>) => Joi.array<T[]>().items(item).empty(unwritten);
export const mapOf = <T>(value: Joi.Schema<T>) =>
  Joi.object<Record<string, T>>().pattern(Joi.string(), value).empty(unwritten);
export const names = listOf(name);
export const globs = listOf(checked(globFault));
export const regexes = listOf(checked(regexFault));
export const failMode = word(['open', 'closed']).empty(Joi.valid(null, ''));
