import type { Writable } from 'node:stream';
import { LRUCache } from 'lru-cache';
import winston from 'winston';
import type { Clock } from '../clock';
import { formatJson, formatText } from './format';
import { maskObvious, maskText, redactField, formatStack, type Masker } from './redact';

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

/**
 * Fields of a line in snake case. Never a body, a prompt or the content
 * behind a pointer. An `Error` is written with its causes, and its stack on the same line.
 */
export type LogFields = Readonly<Record<string, unknown>>;

export interface Logger {
  debug(msg: string, fields?: LogFields): void;
  info(msg: string, fields?: LogFields): void;
  warn(msg: string, fields?: LogFields): void;
  error(msg: string, fields?: LogFields): void;
  /** A logger that adds these fields to every line. */
  child(fields: LogFields): Logger;
  /**
   * Logs once per period and key, for lines that could repeat with every packet. The first line of the next period has
   * `suppressed`, the number of lines left out.
   */
  oncePer(key: string, periodMs: number): Logger;
}

export interface LoggerOptions {
  component: string;
  level: LogLevel;
  format: 'text' | 'json';
  clock: Pick<Clock, 'nowMs'>;
  /** Runs on every text after the masker of obvious secrets: masks secrets of this process and scanner patterns. */
  maskers?: readonly Masker[];
  /** Standard output when absent. */
  to?: Writable;
}

interface SuppressedLines {
  untilMs: number;
  suppressed: number;
}
/** Keys come from outside; beyond this many the least recently used is evicted, which at worst logs a line early. */
const maxKeys = 10_000;
const maxKeyChars = 256;

/** Opens the logger of a process. */
export function openLogger({ component, level, format, clock, maskers = [], to }: LoggerOptions): Logger {
  const mask: Masker = (text) => maskers.reduce((masked, masker) => masker(masked), maskObvious(text));
  const write = format === 'json' ? formatJson : formatText;
  const sink = winston.createLogger({
    level,
    levels: { error: 0, warn: 1, info: 2, debug: 3 },
    format: winston.format.printf((info) => String(info.message)),
    transports: [new winston.transports.Stream({ stream: to ?? process.stdout })],
    exitOnError: false,
  });
  const seen = new LRUCache<string, SuppressedLines>({ max: maxKeys });
  const isOn = (asked: LogLevel) => logLevels.indexOf(asked) >= logLevels.indexOf(level);

  function line(asked: LogLevel, msg: string, given: LogFields): void {
    if (!isOn(asked)) return;
    const fields: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(given)) {
      fields[key] = redactField(key, value, mask);
      if (value instanceof Error && asked === 'error')
        fields[key === 'error' ? 'stack' : `${key}_stack`] = formatStack(value, mask);
    }
    const time = new Date(clock.nowMs()).toISOString();
    sink.log(asked, write({ time, level: asked, msg: maskText(msg, mask), component, fields }));
  }

  function from(bound: LogFields): Logger {
    const at = (asked: LogLevel) => (msg: string, fields?: LogFields) => line(asked, msg, { ...bound, ...fields });
    return {
      debug: at('debug'),
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
      child: (fields) => from({ ...bound, ...fields }),
      oncePer(named, periodMs) {
        const key = named.slice(0, maxKeyChars);
        const known = seen.get(key);
        if (known && clock.nowMs() < known.untilMs) {
          known.suppressed += 1;
          return silentLogger;
        }
        seen.set(key, { untilMs: clock.nowMs() + periodMs, suppressed: 0 });
        return known && known.suppressed > 0 ? from({ ...bound, suppressed: known.suppressed }) : from(bound);
      },
    };
  }
  return from({});
}

const nothing = () => undefined;

/** Writes nothing; for tests and rate-limited lines. */
export const silentLogger: Logger = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  child: () => silentLogger,
  oncePer: () => silentLogger,
};
