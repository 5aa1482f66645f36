import { cpus, totalmem } from 'node:os';
import { meets, type Mark, type Measure } from './measure';
import type { Peers } from './peers/compare';

export interface Machine {
  cpu: string;
  cores: number;
  memory_gb: number;
  node: string;
  redis: string;
  nats: string;
  /** The measured commit, with `-dirty` when files had changed since; empty outside a repository. */
  commit: string;
  /** Load average of the last minute before the bench began: above 0.5 something else was running. */
  load: number;
}

/**
 * A row of bench.json. `limit` is the value of the limit; null without one. `isMet` is computed before rounding; null
 * without a target.
 */
export interface Result {
  name: string;
  value: number;
  unit: string;
  limit: number | null;
  ratio: number | null;
  isMet: boolean | null;
}

/** Builds the row of a measurement: compared unrounded, then rounded for display. */
export function toResult({ name, unit, mark }: Measure, value: number, limit: number | undefined): Result {
  const ratio = limit ? value / limit : undefined;
  return {
    name,
    value: rounded(value),
    unit,
    limit: limit === undefined ? null : rounded(limit),
    ratio: ratio === undefined ? null : rounded(ratio),
    isMet: meets(mark, value, ratio) ?? null,
  };
}

export interface BenchFile {
  machine: Machine;
  limits: Record<string, number>;
  results: Result[];
  /** With --peers. */
  peers?: Peers;
}

/** Description of the machine; `load` is that of the last minute before the bench began. */
export const machine = (versions: { redis: string; nats: string; commit: string }, load: number): Machine => ({
  cpu: cpus()[0]?.model ?? '',
  cores: cpus().length,
  memory_gb: Math.round(totalmem() / 2 ** 30),
  node: process.version,
  ...versions,
  load,
});

/** Three significant digits, or four for large values: more would be noise. */
export const rounded = (value: number): number => Number(value.toPrecision(value >= 100 ? 4 : 3));

const heads = ['name', 'value', 'unit', 'limit', 'ratio', 'target', ''];

/** The table with one row per result, in columns as wide as their widest cell. */
export const table = (measures: readonly Measure[], { results }: BenchFile): string =>
  columns([heads, ...rows(measures, results)]);

/** The same in Markdown. */
export const markdownTable = (measures: readonly Measure[], { results }: BenchFile): string =>
  markdown([heads, ...rows(measures, results)]);

/** Lines of cells as text, in columns as wide as their widest cell. */
export function columns(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_, i) => Math.max(...lines.map((line) => line[i]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Lines of cells as a table in Markdown; the first line is its head. */
export function markdown([head = [], ...lines]: readonly (readonly string[])[]): string {
  const toLine = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [toLine(head), toLine(head.map(() => '---')), ...lines.map(toLine)].join('\n');
}

function rows(measures: readonly Measure[], results: readonly Result[]): string[][] {
  return results.map(({ name, value, unit, limit, ratio, isMet }) => {
    const measure = measures.find((each) => each.name === name);
    return [
      name,
      number(value),
      unit,
      limit === null ? '' : `${number(limit)} ${measure?.limit?.name ?? ''}`,
      ratio === null ? '' : ratio.toFixed(2),
      measure?.mark ? markText(measure.mark) : '',
      isMet === null ? '' : isMet ? 'met' : 'missed',
    ];
  });
}

export const number = (value: number) => value.toLocaleString('en-GB', { maximumSignificantDigits: 4 });

function markText({ of, atLeast, atMost }: Mark): string {
  const bound = atLeast === undefined ? `≤ ${number(atMost ?? 0)}` : `≥ ${number(atLeast)}`;
  return of === 'ratio' ? `ratio ${bound}` : bound;
}
