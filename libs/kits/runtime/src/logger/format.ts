/** A log line before formatting. */
export interface LogEntry {
  time: string;
  level: string;
  msg: string;
  component: string;
  fields: Readonly<Record<string, unknown>>;
}

/** `[COMPONENT] LEVEL message key=value`. Escapes line breaks, so that input cannot forge a line. */
export function formatText({ level, msg, component, fields }: LogEntry): string {
  const pairs = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${oneLine(key).replace(/[\s="]/g, '_')}=${textValue(value)}`);
  return `[${oneLine(component).toUpperCase()}] ${level.toUpperCase()} ${oneLine(msg)}${pairs.join('')}`;
}

/** One JSON object per line; a field cannot overwrite the four reserved names. */
export function formatJson({ time, level, msg, component, fields }: LogEntry): string {
  return JSON.stringify({ ...fields, time, level, msg, component }, (_key, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  ).replace(/[\u007f-\u009f\u2028\u2029]/g, escape);
}

function textValue(value: unknown): string {
  const text = typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
  return text === '' || /[\s"=\\]/.test(text) || needsEscape.test(text) ? oneLine(JSON.stringify(text)) : text;
}

/** Control characters, line separators and the marks that reverse reading direction: all could forge a line. */
const unsafe = '\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069';
const needsEscape = new RegExp(`[${unsafe}]`);
const everyUnsafe = new RegExp(`[${unsafe}]`, 'g');
const escape = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
const oneLine = (text: string) => text.replace(everyUnsafe, escape);
