import type { Address } from '../address';
import type { Problem } from './problem';

interface Declared {
  /** Name in the environment. */
  name: string;
  /** One sentence for `--help` and docs/operations.md. */
  doc: string;
  /** Older or shorter names; `name` takes precedence, then the first that is set. */
  aliases?: readonly string[];
  /** Parsed by `type`, so that help, docs and code show the same default. Without it the value may be undefined. */
  default?: string;
  productionDefault?: string;
  /** Shown in help for a default that depends on the host. */
  shownDefault?: string;
  /** Production does not start with the development default. */
  requiredInProduction?: true;
  /** Never printed or logged, even when invalid. */
  secret?: true;
}

/** One environment variable. A `family` is every variable whose name starts alike: `SVC_KEY_<ID>`. */
export type Variable =
  | (Declared & { type: 'string' | 'url' | 'path' | 'bool' | 'list' | 'family' })
  | (Declared & {
      type: 'address';
      /** The service listens there; otherwise it connects to it. */ listens?: true;
    })
  | (Declared & { type: 'int' | 'number'; min?: number; max?: number })
  | (Declared & {
      type: 'duration';
      min?: string;
      max?: string;
      /** Its form in whole seconds, which wins. */ secondsName?: string;
    })
  | (Declared & {
      type: 'enum';
      choices: readonly string[];
      /** Other spellings of a choice. */ spellings?: Record<string, string>;
    });

export type Variables = Record<string, Variable>;

interface Known {
  string: string;
  url: string;
  path: string;
  bool: boolean;
  address: Address;
  list: readonly string[];
  family: Readonly<Record<string, string>>;
  int: number;
  number: number;
  duration: number;
}
type Read<V extends Variable> = V extends { type: 'enum'; choices: readonly (infer Choice)[] }
  ? Choice
  : Known[Exclude<V['type'], 'enum'>];
type Always = { default: string } | { type: 'list' | 'family' };

/** Values that `readEnv` returns for a table; durations are in milliseconds. */
export type EnvOf<T extends Variables> = {
  readonly [K in keyof T]: Read<T[K]> | (T[K] extends Always ? never : undefined);
} & { readonly production: boolean };

/** Checks a condition across variables. A reported problem prevents startup in development too. */
export type Rule<Values> = (values: Values) => readonly Problem[];

/** The environment of one service. */
export interface EnvSpec<T extends Variables> {
  service: string;
  variables: T;
  rules: readonly Rule<EnvOf<T>>[];
}

type UnitsNamed<T extends Variables> = {
  [K in keyof T]: T[K] extends { type: 'duration' }
    ? K extends `${string}Ms`
      ? T[K]
      : 'the key of a duration ends in Ms'
    : T[K];
};

/** A table of variables; the key of a duration must end in `Ms`. */
export const variables = <const T extends Variables>(table: T & UnitsNamed<T>): T => table;

/** Ties a table to its rules, checked against the table's own types. */
export const envSpec = <T extends Variables>(spec: EnvSpec<T>): EnvSpec<T> => spec;
