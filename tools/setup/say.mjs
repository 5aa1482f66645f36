import { spawn } from 'node:child_process';

/** An error whose message contains instructions. */
export class SetUpError extends Error {}

export const say = (text) => console.error(`setup     │ ${text}`);

/**
 * Runs a command without its output, and prints a progress line every ten seconds.
 *
 * @returns its exit code and everything it printed
 */
export function run(what, command, args, options = {}) {
  const startedMs = Date.now();
  const ticking = setInterval(() => say(`${what}: ${Math.round((Date.now() - startedMs) / 1_000)} s`), 10_000);
  return new Promise((resolve) => {
    let output = '';
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data));
    const end = (code, text) => {
      clearInterval(ticking);
      resolve({ code, output: text });
    };
    child.once('error', (error) => end(127, error.message));
    child.once('close', (code) => end(code ?? 1, output));
  });
}

/** The last lines of an output, indented, for a message. */
export const tail = (output, lines = 15) =>
  output
    .trimEnd()
    .split('\n')
    .slice(-lines)
    .map((line) => `  ${line}`)
    .join('\n');
