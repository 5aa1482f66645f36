import { builtInDefinitions } from './built-in';
import { corpora, measure, ordinary, type Corpus } from './corpus.testing';
import { getThreshold } from './corpus-thresholds.testing';
import { redact } from './redact';
import { scan } from './scan';
import { builtInScanners } from './scanner-set';

const all = { scanners: ['secret', 'pii', 'injection'] };
const leastTexts = 40;
const named = corpora.map((corpus) => [`${corpus.scanner}/${corpus.detector}`, corpus] as const);
const spans = ({ found }: Corpus) => found.reduce((sum, { places }) => sum + places.length, 0);

describe('the corpus', () => {
  it('has a file for every built-in pattern, and no others', () => {
    const patterns = Object.entries(builtInDefinitions).flatMap(([scanner, { patterns }]) =>
      patterns.map(({ name }) => `${scanner}/${name}`),
    );

    expect(named.map(([name]) => name).sort()).toEqual(patterns.sort());
  });

  it.each(named)('%s: at least forty positives and forty near misses, without duplicates', (_, corpus) => {
    const texts = [...corpus.found, ...corpus.clean].map(({ text }) => text);

    expect(spans(corpus)).toBeGreaterThanOrEqual(leastTexts);
    expect(corpus.clean.length).toBeGreaterThanOrEqual(leastTexts);
    expect(texts.filter((text, index) => texts.indexOf(text) !== index)).toEqual([]);
    expect(corpus.found.filter(({ places }) => places.length === 0)).toEqual([]);
    expect(corpus.clean.filter(({ places }) => places.length > 0)).toEqual([]);
  });
});

describe('the built-in detectors, measured on the corpus', () => {
  it.each(named)('%s finds the labelled positions and nothing else', (name, corpus) => {
    const least = getThreshold(name);
    const { precision, recall, wrong } = measure(corpus);

    // The failing texts are shown with the numbers.
    const isGood = precision >= least.precision && recall >= least.recall;
    expect(isGood ? 'good enough' : { precision, recall, least, wrong }).toBe('good enough');
  });

  it.each(ordinary.map((text) => [text.slice(0, 60), text]))('no detector matches %j', (_, text) => {
    expect(scan(Buffer.from(text), all, builtInScanners).findings).toEqual([]);
  });

  it.each(named)(
    '%s: findings of one detector never overlap, and overlapping ones are redacted as one',
    (_, { found }) => {
      const texts = found.map(({ text }) => text);
      const bytes = Buffer.from(texts.join('\n'));
      const { findings } = scan(bytes, all, builtInScanners);

      for (const [index, { matched_pattern, offset }] of findings.entries()) {
        const others = findings.slice(0, index).filter((other) => other.matched_pattern === matched_pattern);
        expect(others.filter((other) => other.offset + other.length > offset)).toEqual([]);
      }
      const marks = Buffer.from(redact(bytes, findings)).toString().split('[REDACTED]').length - 1;
      expect(marks).toBe(clusters(findings));
    },
  );
});

/** Number of separate ranges after merging findings that overlap or touch. */
function clusters(findings: readonly { offset: number; length: number }[]): number {
  let count = 0;
  let end = -1;
  for (const { offset, length } of findings) {
    if (offset > end) count++;
    end = Math.max(end, offset + length);
  }
  return count;
}
