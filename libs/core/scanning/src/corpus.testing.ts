import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { drawFor, fill, type Draw } from './corpus-values.testing';
import { scan } from './scan';
import { builtInScanners } from './scanner-set';

/** Position of a finding, in bytes. */
export interface LabelledRange {
  offset: number;
  length: number;
}

/** A text and the positions the detector must find in it; none in a near miss. */
export interface Labelled {
  text: string;
  places: LabelledRange[];
}

/** The content of one corpus file, for one detector. */
export interface Corpus {
  scanner: string;
  detector: string;
  /** What the detector finds, and the conditions beyond the expression. */
  about: string;
  validators: string;
  /** Positives. */
  found: Labelled[];
  /** Similar texts in which nothing may be found. */
  clean: Labelled[];
}

interface CorpusFile {
  about: string;
  validators?: string;
  found?: string;
  values?: string;
  clean?: string;
  lookalikes?: string;
}
interface Context {
  text: string;
  as?: 'json' | 'json_in_json';
}

const root = join(__dirname, '../corpus');
const read = (path: string): unknown => parse(readFileSync(join(root, path), 'utf8'));
const contexts = read('contexts.yaml') as Context[];
/** Number of contexts in which each value is placed. */
const surroundings = 4;

/** The labelled texts of every detector; deterministic. */
export const corpora: readonly Corpus[] = ['secret', 'pii', 'injection'].flatMap((scanner) =>
  readdirSync(join(root, scanner))
    .sort()
    .map((name) => readCorpus(scanner, name)),
);

/** Ordinary output without a finding for any detector. */
export const ordinary: readonly string[] = splitLines((read('ordinary.yaml') as CorpusFile).clean).map(
  (line) => unmark(fill(line, drawFor(line))).text,
);

function readCorpus(scanner: string, name: string): Corpus {
  const file = read(`${scanner}/${name}`) as CorpusFile;
  const detector = name.replace('.yaml', '');
  const whole = (text: string | undefined) => splitLines(text).map((line) => unmark(fill(line, drawFor(line))));
  const placed = (text: string | undefined) =>
    splitLines(text).flatMap((line, index) =>
      Array.from({ length: surroundings }, (_, turn) => {
        const { text: around, as } = contexts[(index * surroundings + turn) % contexts.length] ?? { text: '•' };
        const filled = fill(line, drawFor(`${line} ${turn}`));
        const escaped = as === undefined ? filled : as === 'json' ? escape(filled) : escape(escape(filled));
        return unmark(around.replace('•', () => escaped));
      }),
    );
  return {
    scanner,
    detector,
    about: file.about,
    validators: file.validators ?? 'none',
    found: [...whole(file.found), ...placed(file.values)],
    clean: [...whole(file.clean), ...placed(file.lookalikes)],
  };
}

/** One text per line; ⏎ is a line end within it and ⇥ a tab. */
function splitLines(block: string | undefined): string[] {
  const lines = (block ?? '').split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => line.replaceAll('⏎', '\n').replaceAll('⇥', '\t'));
}

function escape(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Removes the guillemets from a text; the text between them must be found. */
export function unmark(marked: string): Labelled {
  const places: LabelledRange[] = [];
  let offset = 0;
  const parts = marked.split(/[«»]/);
  for (const [index, part] of parts.entries()) {
    const length = Buffer.byteLength(part);
    if (index % 2 === 1) places.push({ offset, length });
    offset += length;
  }
  return { text: parts.join(''), places };
}

/** Scores of one detector. */
export interface Measured {
  scanner: string;
  detector: string;
  /** Positions that must be found, and texts in which nothing may be. */
  positives: number;
  negatives: number;
  truePositives: number;
  falsePositives: number;
  precision: number;
  recall: number;
  /** The failing texts, each with its failure. */
  wrong: string[];
}

/** Runs a detector on its own texts and on all ordinary ones. */
export function measure({ scanner, detector, found, clean }: Corpus): Measured {
  const quiet = ordinary.map((text): Labelled => ({ text, places: [] }));
  const judged = [...found, ...clean, ...quiet].map((labelled) => ({
    ...labelled,
    ...judge(labelled.places, placesFound(scanner, detector, labelled.text), scanner !== 'injection'),
  }));
  const count = (of: (one: (typeof judged)[number]) => number) => judged.reduce((sum, one) => sum + of(one), 0);
  const positives = count(({ places }) => places.length);
  const truePositives = count(({ hits }) => hits);
  const falsePositives = count(({ extra }) => extra.length);
  return {
    scanner,
    detector,
    positives,
    negatives: clean.length + quiet.length,
    truePositives,
    falsePositives,
    precision: truePositives / Math.max(truePositives + falsePositives, 1),
    recall: truePositives / Math.max(positives, 1),
    wrong: judged.flatMap(({ text, missed, extra }) => [
      ...missed.map((place) => `not found: ${cut(text, place)} in ${JSON.stringify(text)}`),
      ...extra.map((place) => `found wrongly: ${cut(text, place)} in ${JSON.stringify(text)}`),
    ]),
  };
}

/** Findings of this detector, with all scanners running. */
export function placesFound(scanner: string, detector: string, text: string): LabelledRange[] {
  const { findings } = scan(Buffer.from(text), { scanners: ['secret', 'pii', 'injection'] }, builtInScanners);
  return findings.filter((one) => one.matched_pattern === detector && one.scanner === scanner);
}

/** Secrets and personal data must match exactly, instructions must overlap. */
function judge(labels: readonly LabelledRange[], places: readonly LabelledRange[], isExact: boolean) {
  const isHit = (label: LabelledRange, place: LabelledRange) =>
    isExact
      ? place.offset === label.offset && place.length === label.length
      : place.offset < label.offset + label.length && label.offset < place.offset + place.length;
  const missed = labels.filter((label) => !places.some((place) => isHit(label, place)));
  const extra = places.filter((place) => !labels.some((label) => isHit(label, place)));
  return { hits: labels.length - missed.length, missed, extra };
}

const cut = (text: string, { offset, length }: LabelledRange) =>
  JSON.stringify(
    Buffer.from(text)
      .subarray(offset, offset + length)
      .toString(),
  );

export type { Draw };
