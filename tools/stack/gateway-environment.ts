import { apiEnv, type Variable } from '@svc/runtime';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readRunningInfo, writePrivately } from './info';

const fileIn = (dataDir: string) => join(dataDir, 'gateway-env.json');

/** Whether the gateway reads the variable; other variables of the caller's shell are not written to disk. */
const isDeclared = (name: string): boolean =>
  Object.values<Variable>(apiEnv.variables).some((variable) => {
    if (variable.type === 'family') return name.startsWith(variable.name.replace(/<.*/, ''));
    const seconds = variable.type === 'duration' ? variable.secondsName : undefined;
    return [variable.name, ...(variable.aliases ?? []), seconds].includes(name);
  });

/** Stores the environment with which the gateway runs, for `npm run doctor`. It contains secrets: mode 0600. */
export const keepGatewayEnvironment = (dataDir: string, env: NodeJS.ProcessEnv): void =>
  writePrivately(fileIn(dataDir), Object.fromEntries(Object.entries(env).filter(([name]) => isDeclared(name))));

export const removeGatewayEnvironment = (dataDir: string): void => rmSync(fileIn(dataDir), { force: true });

/** @returns the environment of the gateway of the stack that runs on this folder, and its authority; undefined without one */
export function readGatewayEnvironment(dataDir: string): { env: NodeJS.ProcessEnv; caFile: string } | undefined {
  const info = readRunningInfo(join(dataDir, 'stack.json'));
  const file = fileIn(dataDir);
  if (!info || !existsSync(file)) return undefined;
  return { env: JSON.parse(readFileSync(file, 'utf8')) as NodeJS.ProcessEnv, caFile: info.ca_file };
}
