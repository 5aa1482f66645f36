import fc from 'fast-check';
import { builtInDefinitions } from './built-in';
import { parseScanners } from './parse-scanners';
import { samples, unmark } from './samples.testing';
import { scan } from './scan';
import { builtInScanners, compileScanners, type ScannerSet } from './scanner-set';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const all = { scanners: ['secret', 'pii', 'injection'] };
const rows = samples.flatMap(({ pattern, found, clean }) => [
  ...found.map((marked) => [pattern, marked] as const),
  ...clean.map((marked) => [pattern, marked] as const),
]);

/** Positions where the pattern matched. */
function findPlaces(pattern: string, text: string, set: ScannerSet) {
  const { findings } = scan(Buffer.from(text), all, set);
  return findings.filter((each) => each.matched_pattern === pattern).map(({ offset, length }) => ({ offset, length }));
}

/** The same patterns with a different text, so that they run on the RE2 engine. */
const onAnyEngine = compileScanners(
  Object.fromEntries(
    Object.entries(builtInDefinitions).map(([name, scanner]) => [
      name,
      { ...scanner, patterns: scanner.patterns.map((each) => ({ ...each, regex: `(?:${each.regex})` })) },
    ]),
  ),
);
const shippedText = readFileSync(join(__dirname, '../../../../config/output_scanners.yaml'), 'utf8');
const shipped = parseScanners(shippedText, { source: 'output_scanners.yaml' });

describe('the built-in patterns', () => {
  it.each(rows)('%s: %s', (pattern, marked) => {
    const { text, places } = unmark(marked);

    expect(findPlaces(pattern, text, builtInScanners)).toEqual(places);
  });

  it('have a sample and a near miss each', () => {
    const names = Object.values(builtInDefinitions).flatMap(({ patterns }) => patterns.map(({ name }) => name));

    expect(samples.map(({ pattern }) => pattern).sort()).toEqual(names.sort());
    expect(samples.filter(({ found, clean }) => found.length === 0 || clean.length === 0)).toEqual([]);
  });

  it('find the same as the RE2 engine in every sample', () => {
    expect(onAnyEngine.fast).toEqual([]);
    for (const [, marked] of rows) {
      const { text } = unmark(marked);
      const body = Buffer.from(`é ${text} ü`);

      expect({ text, ...scan(body, all, builtInScanners) }).toEqual({ text, ...scan(body, all, onAnyEngine) });
    }
  });

  it('find the same as the RE2 engine in any mixture of samples', () => {
    const joints = fc.constantFrom(' ', '\n', ', ', '', 'é', '.', ';', '=', '-', '"');
    const part = fc.tuple(fc.constantFrom(...rows.map(([, marked]) => unmark(marked).text)), joints);
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
        const body = Buffer.from(parts.flat().join(''));

        expect(scan(body, all, builtInScanners)).toEqual(scan(body, all, onAnyEngine));
      }),
      { numRuns: 150 },
    );
  });

  it('equal the shipped definitions file', () => {
    if (!shipped.ok) throw new Error(JSON.stringify(shipped.problems));
    const labels = ({ fast }: ScannerSet) => fast.map(({ label, context, regex }) => ({ label, context, regex }));

    expect(shipped.scanners.slow).toEqual([]);
    expect(labels(shipped.scanners)).toEqual(labels(builtInScanners));
  });
});
