import type { ChosenPolicyView, ComparedOutcomeView, ComparisonResult, EvalDifferenceView } from '@svc/contract';

const MAX_ROWS = 200;

/** Text in a table cell. Markdown is not interpreted, so that names cannot change the report. */
const cell = (text: string): string => text.replace(/[\\`*_[\]<>|#!]/g, '\\$&').replace(/\s+/g, ' ');
const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n');

/** A comparison as Markdown: the verdict first, then the score of both policies, then the entries that differ. */
export function toReport(comparison: ComparisonResult): string {
  const { dataset_name, dataset_version, left, right, counts, differences, completed_at } = comparison;
  const broken = differences.filter(({ effect }) => effect === 'broken');
  const fixed = differences.filter(({ effect }) => effect === 'fixed');
  const others = differences.filter(({ effect }) => effect === 'none');
  return [
    `# Comparison on ${cell(dataset_name)}, version ${dataset_version}`,
    `${toVerdict(comparison)} Evaluated ${counts.total} entries, ended ${completed_at}.`,
    table(
      ['Policy', 'Snapshot', 'Score', 'Passed', 'Failed', 'Regressions', 'Errors'],
      [
        ['left', left],
        ['right', right],
      ].map(([name, side]) => {
        const { policy, policy_snapshot, summary } = side as ComparisonResult['left'];
        const { score_percent: score, passed, failed, regressions, errored } = summary;
        return [
          `${String(name)}: ${cell(describePolicy(policy))}`,
          cell(policy_snapshot.slice(-12)),
          score === null ? 'none' : `${score} %`,
          ...[passed, failed, regressions, errored].map(String),
        ];
      }),
    ),
    `From left to right, ${counts.escalated} decisions are stricter, ${counts.relaxed} less strict, and ${counts.unchanged} unchanged.`,
    ...section('Broken: only the left policy decides as expected', broken),
    ...section('Fixed: only the right policy decides as expected', fixed),
    ...section('Other differences', others),
  ].join('\n\n');
}

function toVerdict({ counts: { fixed, broken, errored } }: ComparisonResult): string {
  const incomplete = errored > 0 ? ` ${errored} entries have no decision on at least one side.` : '';
  if (broken === 0 && fixed === 0) return `The right policy passes the same entries.${incomplete}`;
  if (broken === 0) return `The right policy fixes ${fixed} entries and breaks none.${incomplete}`;
  return `The right policy breaks ${broken} entries and fixes ${fixed}.${incomplete}`;
}

const describePolicy = ({ kind, bundle_id, sha256 = '' }: ChosenPolicyView): string => {
  if (kind === 'current') return 'policy in effect';
  const name = bundle_id ?? 'additional bundle';
  return kind === 'bundle' ? `stored bundle ${name}` : `text for ${name} (${sha256.slice(0, 12)})`;
};

function section(title: string, differences: readonly EvalDifferenceView[]): string[] {
  if (differences.length === 0) return [];
  const rows = differences
    .slice(0, MAX_ROWS)
    .map(({ entry_id, topic, expected_decision, left, right, direction = 'none' }) => [
      cell(entry_id),
      cell(topic),
      expected_decision,
      describeOutcome(left),
      describeOutcome(right),
      direction,
    ]);
  const hidden = differences.length - rows.length;
  return [
    `## ${title} (${differences.length})`,
    table(['Entry', 'Topic', 'Expected', 'Left', 'Right', 'Direction'], rows),
    ...(hidden > 0 ? [`${hidden} more are in the comparison itself.`] : []),
  ];
}

const describeOutcome = ({ decision, rule_id, error = '' }: ComparedOutcomeView): string =>
  decision === undefined ? cell(`error: ${error}`) : `${decision}${rule_id ? ` by ${cell(rule_id)}` : ' by default'}`;
