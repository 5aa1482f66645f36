import { builtInDefinitions } from '@svc/scanning';
import { corpora, measure, ordinary, type Corpus } from '../../libs/core/scanning/src/corpus.testing';
import { getThreshold } from '../../libs/core/scanning/src/corpus-thresholds.testing';

const percent = (share: number) => (Math.floor(share * 1_000) / 10).toFixed(1);
const titles: Readonly<Record<string, string>> = {
  secret: '`secret`: credentials (finding type `secret_leak`)',
  pii: '`pii`: personal data (finding type `pii`)',
  injection:
    '`injection`, also `code_injection`: text that makes a shell, a database or a model execute something (finding type `code_injection`)',
};

/** Row of a detector, measured on its corpus. */
function toRow(corpus: Corpus): string[] {
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

/** Sections of docs/scanning.md. */
export function scanningParts(
  table: (head: readonly string[], rows: readonly (readonly string[])[]) => string,
): string[] {
  const head = [
    'Detector',
    'Finds',
    'Counts only when',
    'Severity, confidence',
    'Labelled / near misses',
    'Precision %',
    'Recall %',
  ];
  const scanners = Object.keys(builtInDefinitions).flatMap((scanner) => [
    `## ${titles[scanner] ?? scanner}`,
    table(head, corpora.filter((corpus) => corpus.scanner === scanner).map(toRow)),
  ]);
  return [...introduction, ...scanners, ...reasons(), ...howTo];
}

/** Detectors with a lower threshold, and the reasons. */
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
  'Detectors of the built-in scanners, which scan the output of jobs and the content of requests, and their accuracy. `config/output_scanners.yaml` lists the patterns.',
  '## How it was measured',
  `Each detector has a labelled corpus in \`libs/core/scanning/corpus/<scanner>/<detector>.yaml\`: texts with the exact location of each expected finding, and similar texts without one (near misses). Most appear in several contexts: prose, log lines, JSON, JSON within JSON, Markdown, code, tables, other alphabets, coloured terminal output, diffs. ${ordinary.length} ordinary texts count as near misses of every detector. Findings of secrets and personal data must match the labelled bytes exactly; findings of injections must overlap them.`,
  'Precision is the share of correct findings, recall the share of labelled locations that are found. `libs/core/scanning/src/corpus.test.ts` fails, and lists the wrong texts, when a detector falls below 95 % in either; exceptions and their reasons are in `corpus-thresholds.testing.ts`. The corpus was written together with the detectors: the numbers guard against regressions, and do not predict accuracy on the output of your workers. A better estimate: of 52 additional, mostly unusual locations written before any detector was changed for them, 34 were found (65 %), with 3 false positives in 45 near misses. They are now in the corpus, including those that are still classified wrongly. Add a text that is classified wrongly to the file of its detector.',
];

const howTo = [
  '## Obfuscation that every detector handles',
  [
    '- **Escapes.** `\\n`, `\\r`, `\\t` in JSON, and in JSON within JSON, and the colours of a terminal count as blanks; `\\u0069` counts as its character.',
    '- **Disguises.** Invisible characters (zero-width, soft hyphens, tags, combining marks) are ignored; wide and mathematical letters, other kinds of blanks and dashes, and Cyrillic or Greek letters within a Latin word count as the characters they resemble.',
    '- **Base64.** Runs of at least 24 characters are decoded and scanned, one level deep; line breaks end a run.',
    '- Offsets and lengths are always those of the raw body. Findings of one pattern never overlap: a match in the body and in its decoded text is one finding. A redacted copy replaces findings of all patterns that overlap or touch by one `[REDACTED]`.',
    '- A redacted copy is scanned as well before it is released: redaction may expose another match. After three copies with findings, or when a copy cannot be scanned, the output is quarantined. The findings in the record of a redacted output are those of every pass, with offsets and lengths of the raw body.',
  ].join('\n'),
  '## Limitations',
  [
    '- Addresses with letters outside ASCII (`jörg@…`, `…@müller.example`), or written out (`jo at example dot com`).',
    '- Card numbers separated by dots, telephone numbers without a country code outside North America.',
    '- Orders to a model in languages other than English, or in words that are not listed; a fork bomb with another name.',
    '- Values with line breaks within base64, compressed, encrypted or otherwise encoded text, base64 within base64.',
    '- False positives: any number that passes every check of a card or telephone number.',
  ].join('\n'),
  '## Custom patterns',
  'Point `OUTPUT_SCANNERS_PATH` at a file like this one. Its scanners replace the built-in ones of the same name, so copy the patterns to keep from `config/output_scanners.yaml`; other scanners are unchanged.',
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
    '- Expressions use RE2 syntax: no lookahead, lookbehind or backreferences, at most 1,024 characters. They take linear time.',
    '- A group named `value` narrows the finding, and its redaction, to that part.',
    '- With `context_required: true` a match counts only with a related word within 64 characters: a word of the pattern’s name, or one of the scanner.',
    '- A pattern with the name of a built-in one also has its validators.',
    '- If the file cannot be read, the built-in scanners are used and an alert is published. A scan is limited in bytes and time; one that exceeds its time is reported as such.',
    '- To add a detector to this library: add it to `libs/core/scanning/src/built-in/`, its validators to `checks.ts`, its corpus file with at least 40 labelled locations and 40 near misses, and run `npm run docs`.',
  ].join('\n'),
];
