import { eachNastyDocument, fuzzed, fuzzTimeoutMs, hostileText, hostileYaml } from '@svc/testing';
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parsePools } from './pools-file';
import { parseTimeouts, timeoutsFor } from './timeouts-file';
import { bestMatch } from './topic-pattern';

jest.setTimeout(fuzzTimeoutMs());

const shipped = (name: string) => readFileSync(join(__dirname, '../../../../config', name), 'utf8');

/** An accepted document resolves any topic without an error. */
function usePools(text: string, topic: string, strict: boolean): void {
  const read = parsePools(text, 'pools.yaml', strict);
  if (!read.ok) return expectMessages(read.problems);
  for (const pool of bestMatch(read.value.topics, topic)?.value ?? []) {
    expect(read.value.pools[pool]).toMatchObject({ name: pool });
  }
}

function useTimeouts(text: string, topic: string): void {
  const read = parseTimeouts(text, 'timeouts.yaml');
  if (!read.ok) return expectMessages(read.problems);
  const { dispatchMs, runningMs } = timeoutsFor(read.value, topic, topic);
  expect(dispatchMs).toBeGreaterThan(0);
  expect(runningMs).toBeGreaterThan(0);
}

const expectMessages = (problems: readonly { message: string }[]) => {
  expect(problems.length).toBeGreaterThan(0);
  for (const { message } of problems) expect(message).not.toBe('');
};

const topic = fc.oneof(fc.constantFrom('job.a', 'job.demo.echo', 'job', '__proto__', 'constructor'), hostileText);

describe('the pools and timeouts files', () => {
  it.each(eachNastyDocument.map((text) => [text.slice(0, 60), text]))('are parsed or rejected: %j', (_shown, text) => {
    usePools(text, 'job.a', true);
    usePools(text, 'job.a', false);
    useTimeouts(text, 'job.a');
  });

  it('that are almost valid are parsed, or rejected with an error message', () => {
    const pools = hostileYaml([shipped('pools.yaml'), 'topics: {job.>: [main]}\npools: {main: {status: draining}}\n']);
    fc.assert(fc.property(pools, topic, fc.boolean(), usePools), fuzzed(100));

    const timeouts = hostileYaml([shipped('timeouts.yaml'), 'topics: {job.a: {timeout_seconds: 5, max_retries: 0}}\n']);
    fc.assert(fc.property(timeouts, topic, useTimeouts), fuzzed(100));
  });
});
