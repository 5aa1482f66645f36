import { RE2JS, RE2Set } from 're2js';
import { builtInDefinitions, builtInPattern } from './built-in';
import { checks, type Check } from './checks';
import { relatedWords } from './context';
import { confidenceNumber, type BuiltInPattern, type PatternDefinition, type ScannerDefinitions } from './definitions';
import type { Label } from './finding';
import { compileNeedles, type NeedleSearch } from './needle-search';

interface Conditions {
  label: Label;
  /** The finding is the group `value`, not the whole match. */
  hasValue: boolean;
  /** A check beyond the expression, such as the Luhn sum of a card number. */
  check: Check | undefined;
  /** Words of which one must occur nearby. */
  context: RegExp | undefined;
}

/** A built-in pattern, tried in V8's engine at its needles. */
export interface FastPattern extends Conditions {
  regex: RegExp;
  begin: BuiltInPattern['begin'];
  /** It starts with a word character that must not follow another one: checking one byte avoids most tries. */
  atWordStart: boolean;
}

/** A pattern of a file, for the engine that is linear for any pattern. */
export interface SlowPattern extends Conditions {
  regex: RE2JS;
}

/** Compiled scanners; built by `compileScanners`. */
export interface ScannerSet {
  readonly fast: readonly FastPattern[];
  readonly slow: readonly SlowPattern[];
  /** Owners are indexes of `fast`. */
  readonly needles: NeedleSearch;
  /** Determines in one pass which of `slow` match at all; undefined when that saves nothing. */
  readonly sieve: RE2Set | undefined;
}

/** With fewer, testing each pattern by itself is as fast. */
const fewestSieved = 4;

/** Patterns with the exact text of a built-in one run as that one; all others run on the RE2 engine. */
export function compileScanners(definitions: ScannerDefinitions): ScannerSet {
  const fast: FastPattern[] = [];
  const slow: SlowPattern[] = [];
  const needles: [string, number][] = [];
  const sources: string[] = [];
  for (const [scanner, { finding_type, patterns }] of Object.entries(definitions)) {
    for (const pattern of patterns) {
      const conditions = buildConditions(scanner, finding_type, pattern);
      const known = builtInPattern(scanner, pattern.name, pattern.regex);
      if (known) {
        needles.push(...known.needles.map((needle): [string, number] => [needle, fast.length]));
        fast.push({ ...conditions, ...sticky(known), begin: known.begin });
      } else {
        sources.push(pattern.regex);
        slow.push({ ...conditions, regex: RE2JS.compile(pattern.regex) });
      }
    }
  }
  return { fast, slow, needles: compileNeedles(needles), sieve: buildSieve(sources) };
}

/** The built-in scanners; a file's scanner replaces the one of its name. */
export const builtInScanners: ScannerSet = compileScanners(builtInDefinitions);

function buildConditions(scanner: string, type: string, pattern: PatternDefinition): Conditions {
  const { name, severity, confidence, context_required, regex } = pattern;
  return {
    label: {
      type,
      severity,
      detail: `${scanner}: ${name.replaceAll('_', ' ')}`,
      scanner,
      confidence: confidenceNumber[confidence],
      matched_pattern: name,
    },
    hasValue: /\(\?P?<value>/.test(regex),
    check: Object.hasOwn(checks, name) ? checks[name] : undefined,
    context: context_required ? relatedWords(scanner, name) : undefined,
  };
}

function sticky({ regex }: BuiltInPattern): Pick<FastPattern, 'regex' | 'atWordStart'> {
  const withoutCase = regex.startsWith('(?i)');
  const source = withoutCase ? regex.slice('(?i)'.length) : regex;
  return { regex: new RegExp(source, withoutCase ? 'yi' : 'y'), atWordStart: source.startsWith('\\b') };
}

function buildSieve(sources: readonly string[]): RE2Set | undefined {
  if (sources.length < fewestSieved) return undefined;
  const sieve = new RE2Set();
  for (const source of sources) sieve.add(source);
  sieve.compile();
  return sieve;
}
