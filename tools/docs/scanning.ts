import { builtInDefinitions } from '@svc/scanning';
import { corpora, measure, ordinary, type Corpus } from '../../libs/core/scanning/src/corpus.testing';
import { getThreshold } from '../../libs/core/scanning/src/corpus-thresholds.testing';

const percent = (share: number) => (Math.floor(share * 1_000) / 10).toFixed(1);
const titles: Readonly<Record<string, string>> = {
  secret: '`secret`: credentials (finding type `secret_leak`)',
  pii: '`pii`: personal data (finding type `pii`)',
  injection:
    '`injection`, also `code_injection`: what makes a shell, a database or a model do something (finding type `code_injection`)',
};

/** Every detector with what it was measured on; the measuring is done anew each time. */
function rowOf(corpus: Corpus): string[] {
  const { detector, scanner, about, validators } = corpus;
  const pattern = builtInDefinitions[scanner]?.patterns.find(({ name }) => name === detector);
  const { positives, negatives, precision, recall } = measure(corpus);
  return [
    `\`${detector}\``,
    about,
    validators,
    `${pattern?.severity}, ${pattern?.confidence}`,
    `${positives} / ${negatives}`,
    percent(precision),
    percent(recall),
  ];
}

/** The parts of docs/scanning.md below its title. */
export function scanningParts(
  table: (head: readonly string[], rows: readonly (readonly string[])[]) => string,
): string[] {
  const head = [
    'Detector',
    'Finds',
    'Counts only when',
    'Severity, confidence',
    'To find / near misses',
    'Precision %',
    'Recall %',
  ];
  const scanners = Object.keys(builtInDefinitions).flatMap((scanner) => [
    `## ${titles[scanner] ?? scanner}`,
    table(head, corpora.filter((corpus) => corpus.scanner === scanner).map(rowOf)),
  ]);
  return [...introduction, ...scanners, ...reasons(), ...howTo];
}

/** Why a detector is let through with less than the others. */
function reasons(): string[] {
  const lines = corpora.flatMap(({ scanner, detector }) => {
    const { precision, recall, because } = getThreshold(`${scanner}/${detector}`);
    return because === undefined
      ? []
      : [`- \`${detector}\`: at least ${percent(precision)} % and ${percent(recall)} %, because ${because}.`];
  });
  return lines.length === 0 ? [] : ['## Less than 95 %', lines.join('\n')];
}

const introduction = [
  'What the built-in scanners find in the output of jobs and in the content of requests, and how well. The patterns are also written out in `config/output_scanners.yaml`.',
  '## How it was measured',
  `Each detector has a labelled corpus in \`libs/core/scanning/corpus/<scanner>/<detector>.yaml\`: texts with the very place that must be found, and near misses that look alike and must not be. Most stand in several surroundings: prose, log lines, JSON, JSON within JSON, Markdown, code, tables, other alphabets, coloured terminal output, diffs. ${ordinary.length} ordinary texts count as near misses of every detector. Of secrets and personal data exactly the labelled bytes must be found, of injections some of them.`,
  'Precision is the share of the findings that are right, recall the share of the labelled places that are found. `libs/core/scanning/src/corpus.test.ts` fails, and lists the wrong texts, when a detector falls below 95 % in either; exceptions stand with their reason in `corpus-thresholds.testing.ts`. The corpus was written by hand beside the detectors and holds what they are known to meet: the numbers say that nothing of it is lost again, and are no forecast for the output of your workers. A better forecast is what happened when 52 further places to find and 45 near misses were written down, mostly unusual ones, before any detector was changed for them: 34 were found (65 %), with 3 false alarms. They are in the corpus now, those that are still judged wrongly too. Put a text that was judged wrongly into the file of its detector.',
];

const howTo = [
  '## What every detector sees through',
  [
    '- **Escapes.** `\\n`, `\\r`, `\\t` in JSON, and in JSON within JSON, and the colours of a terminal count as blanks; `\\u0069` counts as its character.',
    '- **Disguises.** Characters that nobody sees (zero-width, soft hyphens, tags, marks over letters), wide and mathematical letters, blanks and dashes of other kinds, and Cyrillic or Greek letters within a Latin word count as what they look like.',
    '- **Base64.** Text in runs of at least 24 characters is looked into, one level deep; line breaks end a run.',
    '- Offsets and lengths are always those of the raw body. Findings of one pattern never overlap: what was found in the body and in what can be read in it is one finding. A redacted copy replaces findings of all patterns that overlap or touch by one `[REDACTED]`.',
    '- A redacted copy is scanned as well before it is released: what was cut out may have been the excuse for something else. After three copies that are not clean, or when a copy cannot be scanned, the output is quarantined. The findings in the record of a redacted output are those of every pass, with offsets and lengths of the raw body.',
  ].join('\n'),
  '## What is not found',
  [
    '- Addresses with letters outside ASCII (`jörg@…`, `…@müller.example`), or written out (`jo at example dot com`).',
    '- Card numbers parted by dots, telephone numbers without a country code outside North America.',
    '- Orders to a model in languages other than English, or in words that are not listed; a fork bomb with another name.',
    '- Values parted by line breaks within base64, text compressed, encrypted or encoded otherwise, base64 within base64.',
    '- A number that passes every check of a card or a telephone number is found, whatever it counts.',
  ].join('\n'),
  '## Patterns of your own',
  'Point `OUTPUT_SCANNERS_PATH` at a file such as this one. A scanner that it names replaces the built-in one of that name, so copy what you want to keep from `config/output_scanners.yaml`; the others stay.',
  [
    '```yaml',
    'version: v1',
    'scanners:',
    '  harbour:',
    '    finding_type: custom # or secret_leak, pii, code_injection',
    '    patterns:',
    '      - name: dock_badge',
    "        regex: '\\bDOCK-(?<value>[A-Z0-9]{20})\\b'",
    '        severity: critical # low, medium, high, critical',
    '        confidence: high # low, medium, high',
    '        context_required: false',
    '```',
  ].join('\n'),
  [
    '- Expressions are of the RE2 class: no looking ahead or behind, no references back, at most 1,024 characters. They take linear time whatever they say.',
    '- A group named `value` narrows the finding, and what a redaction cuts out, to that part.',
    '- With `context_required: true` a match counts only when a related word stands within 64 characters: a word of the pattern’s name, or one that belongs to the scanner.',
    '- A pattern with the name of a built-in one has that one’s validators too.',
    '- A file that cannot be read changes nothing: the built-in scanners are used and an alert says so. What one scan may cost is bounded by bytes and time; one that ran out of time says so.',
    '- To add a detector to this library: add it to `libs/core/scanning/src/built-in/`, its validators to `checks.ts`, its corpus file with at least 40 places to find and 40 near misses, and run `npm run docs`.',
  ].join('\n'),
];
