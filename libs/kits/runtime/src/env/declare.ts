import type { Address } from '../address';
import type { Problem } from './problem';

interface Declared {
  /** As the operator writes it. */
  name: string;
  /** One sentence for `--help` and docs/operations.md. */
  doc: string;
  /** Older or shorter names; the first that is set wins, `name` before them. */
  aliases?: readonly string[];
  /** Text that `type` reads, so that help, docs and code show one default. Without it the value may be undefined. */
  default?: string;
  productionDefault?: string;
  /** What help shows for a default that depends on the machine. */
  shownDefault?: string;
  /** The development default must not be relied on in production. */
  requiredInProduction?: true;
  /** Never printed or logged, not even when it is wrong. */
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

/** What `readEnv` makes of a table: durations are milliseconds. */
export type EnvOf<T extends Variables> = {
  readonly [K in keyof T]: Read<T[K]> | (T[K] extends Always ? never : undefined);
} & { readonly production: boolean };

/** Says what is wrong between variables. What a rule reports stops the start in development too. */
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
