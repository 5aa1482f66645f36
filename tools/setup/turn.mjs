import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from './paths.mjs';
import { say } from './say.mjs';

const file = join(root, '.svc/setup.lock');

/** Two set-ups in one folder would delete packages under each other's feet: the second waits. */
export async function oneAtATime(act) {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  let told = false;
  while (!take()) {
    if (!told) say(`waiting for another set-up (process ${holder()})`);
    told = true;
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
    return 0; // freed a moment ago
  }
}

function isAlive(pid) {
  // Just taken and not yet written, or our own number from before a restart of the container.
  if (pid === 0) return true;
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
