import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from './paths.mjs';
import { say } from './say.mjs';

const file = join(root, '.svc/setup.lock');

/** Serializes setup per folder, because concurrent runs would delete each other's packages. */
export async function oneAtATime(act) {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  let isReported = false;
  while (!take()) {
    if (!isReported) say(`waiting for another setup (process ${holder()})`);
    isReported = true;
    await new Promise((resume) => setTimeout(resume, 500));
  }
  const free = () => rmSync(file, { force: true });
  process.once('exit', free);
  try {
    return await act();
  } finally {
    free();
    process.off('exit', free);
  }
}

function take() {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    if (isAlive(holder())) return false;
    rmSync(file, { force: true });
    return false;
  }
}

function holder() {
  try {
    return Number(readFileSync(file, 'utf8'));
  } catch {
    return 0; // released between the two calls
  }
}

function isAlive(pid) {
  // 0: acquired but not yet written. Own pid: left over from before a container restart.
  if (pid === 0) return true;
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
