/**
 * Loaded into every process before its program (NODE_OPTIONS=--require). In the one that BENCH_PROFILE names, SIGUSR2
 * begins a CPU profile, and the next one ends it and writes it to BENCH_PROFILE_FILE.
 */
const { renameSync, writeFileSync } = require('node:fs');
const { Session } = require('node:inspector');
const { isMainThread } = require('node:worker_threads');

if (isMainThread && process.env.SVC_INSTANCE_ID === process.env.BENCH_PROFILE) {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.setSamplingInterval', { interval: 250 });
  let isRunning = false;
  process.on('SIGUSR2', () => {
    isRunning = !isRunning;
    if (isRunning) return session.post('Profiler.start');
    session.post('Profiler.stop', (error, { profile }) => {
      if (error) throw error;
      const file = process.env.BENCH_PROFILE_FILE;
      writeFileSync(`${file}.part`, JSON.stringify(profile));
      renameSync(`${file}.part`, file);
    });
  });
}
