import type Joi from 'joi';
import { compileArray } from './array';
import { type Check, type CheckOptions, type Description, hasOnly, type Typed, undecided } from './description';
import { compileObject } from './object';
import { compileAny, compileBoolean, compileNumber, compileString } from './scalars';

/**
 * Compiles a check from a Joi schema, with its preferences. The check accepts only what Joi accepts, with the same value; it
 * leaves everything else to Joi, which also produces the errors.
 *
 * @returns undefined when the schema uses a rule that is not supported
 */
export const compileCheck = (schema: Joi.Schema): Check | undefined =>
  compile(schema.describe() as Description, { convert: true, stripUnknown: false });

function compile(description: Description, outer: CheckOptions): Check | undefined {
  const { flags = {}, preferences = {}, allow = [], ...rest } = description;
  if (!hasOnly(rest, members) || !hasOnly(flags, knownFlags) || !hasOnly(preferences, knownPreferences)) {
    return undefined;
  }
  const { convert = outer.convert, stripUnknown = outer.stripUnknown } = preferences;
  if (typeof convert !== 'boolean' || typeof stripUnknown !== 'boolean') return undefined;
  const options = { convert, stripUnknown };
  const presence = flags['presence'] ?? 'optional';
  const emptyValues = flags['empty'] === undefined ? [] : listEmptyValues(flags['empty']);
  const fallback = compileDefault(flags['default']);
  const typed = compileTyped(description, options);
  if (!typed || !fallback || !emptyValues || !allow.every(isPlain)) return undefined;
  if (presence !== 'optional' && presence !== 'required') return undefined;
  return assemble(typed, {
    isRequired: presence === 'required',
    empty: new Set(emptyValues),
    fallback,
    allowed: new Set(allow),
    only: flags['only'] === true && allow.length > 0,
  });
}

const members = new Set(['type', 'rules', 'keys', 'patterns', 'items']);
const knownFlags = new Set(['default', 'description', 'empty', 'only', 'presence', 'unknown']);
const knownPreferences = new Set(['abortEarly', 'convert', 'errors', 'messages', 'stripUnknown']);

function compileTyped(description: Description, options: CheckOptions): Typed | undefined {
  switch (description.type) {
    case 'any':
      return compileAny(description);
    case 'string':
      return compileString(description, options);
    case 'number':
      return compileNumber(description, options);
    case 'boolean':
      return compileBoolean(description);
    case 'array':
      return compileArray(description, options, compile);
    case 'object':
      return compileObject(description, options, compile);
    default:
      return undefined;
  }
}

interface Wrapping {
  isRequired: boolean;
  /** Values that read as absent. */
  empty: ReadonlySet<unknown>;
  fallback: () => unknown;
  /** Values accepted regardless of the type. */
  allowed: ReadonlySet<unknown>;
  /** Whether no other value is accepted. */
  only: boolean;
}

/** The steps of Joi in Joi's order: conversion, empty values, presence, allowed values, type and rules, default. */
function assemble({ convert, check }: Typed, { isRequired, empty, fallback, allowed, only }: Wrapping): Check {
  const absent = (): unknown => (isRequired ? undecided : fallback());
  return (sent) => {
    if (sent === undefined) return absent();
    const value = convert ? convert(sent) : sent;
    if (empty.has(value)) return absent();
    if (allowed.has(value)) return value;
    if (only) return undecided;
    const checked = check(value);
    return checked === undefined ? fallback() : checked;
  };
}

const isPlain = (value: unknown): boolean => value === null || ['string', 'number', 'boolean'].includes(typeof value);

/** Creates the default of an absent field, a new object each time; undefined when the default is not supported. */
function compileDefault(value: unknown): (() => unknown) | undefined {
  if (value === undefined || isPlain(value)) return () => value;
  if (typeof value !== 'object' || value === null || Object.keys(value).length > 0) return undefined;
  return Array.isArray(value) ? () => [] : () => ({});
}

/** The values of `empty()`, which Joi describes as a schema; undefined for more than a list of values. */
function listEmptyValues(schema: unknown): readonly unknown[] | undefined {
  const { type, flags = {}, allow = [], ...rest } = schema as Description;
  const isList = type === 'any' && hasOnly(flags, emptyFlags) && Object.keys(rest).length === 0;
  return isList && flags['only'] === true && allow.every((value) => typeof value === 'string') ? allow : undefined;
}
const emptyFlags = new Set(['only']);
