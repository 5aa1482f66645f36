import { existsSync, readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Locate, FunctionLocation } from './cpu-profile';

/** Finds the source of a bundled function through the source map next to the bundle. */
export function locator(root: string): Locate {
  const maps = new Map<string, SourceMap | undefined>();
  const loadMap = (file: string) => {
    if (!maps.has(file)) maps.set(file, readMap(file));
    return maps.get(file);
  };
  return (url, line, column) => {
    const file = url.startsWith('file:') ? fileURLToPath(url) : url;
    const entry = loadMap(file)?.findEntry(line, column);
    if (!entry || !('originalSource' in entry)) return locateFunction(root, file, line);
    return locateFunction(root, resolve(dirname(file), entry.originalSource), entry.originalLine);
  };
}

function readMap(file: string): SourceMap | undefined {
  if (!existsSync(`${file}.map`)) return undefined;
  return new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')) as SourceMapPayload);
}

/** Line counts from 0. */
export function locateFunction(root: string, file: string, line: number): FunctionLocation {
  const packaged = /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)(.*)$/.exec(file);
  if (packaged) return { group: packaged[1] ?? '', file: `${packaged[1]}/${packaged[2]}:${line + 1}` };
  const path = relative(root, file);
  const isLibrary = path.includes('/src/');
  const group = isLibrary ? path.slice(0, path.indexOf('/src/')) : path.split('/').slice(0, 2).join('/');
  return { group, file: `${path}:${line + 1}` };
}
