import { parse } from 'yaml';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(__dirname, '../../examples/workflows');

/** Names of the files in examples/workflows, without extension. */
export const exampleIds: readonly string[] = readdirSync(folder)
  .filter((file) => file.endsWith('.yaml'))
  .map((file) => file.slice(0, -'.yaml'.length))
  .sort();

/** A definition, as sent to the API. */
export const readExample = (name: string): Record<string, unknown> =>
  parse(readFileSync(join(folder, `${name}.yaml`), 'utf8')) as Record<string, unknown>;
