import { describeMergeRule, sectionHomes, settingActor, settingSections, type MergeRule } from '@svc/contract';
import { policySections } from '@svc/policy';
import type Joi from 'joi';

type Table = (head: readonly string[], rows: readonly (readonly string[])[]) => string;

interface DescribedSetting {
  type?: string;
  flags?: { default?: unknown; description?: string; only?: boolean };
  allow?: readonly unknown[];
  rules?: readonly { name: string; args?: { limit?: number } }[];
  metas?: readonly { merge?: MergeRule }[];
  keys?: Record<string, DescribedSetting>;
}

const describeType = ({ type = '', flags, allow = [], rules = [] }: DescribedSetting): string => {
  if (flags?.only) return allow.map(String).join(', ');
  const limit = (name: string) => rules.find((rule) => rule.name === name)?.args?.limit;
  const [least, most] = [limit('min'), limit('max')];
  const words = [
    rules.some(({ name }) => name === 'integer') ? 'integer' : type,
    ...(least === undefined ? [] : [`from ${least}`]),
    ...(most === undefined || most === Number.MAX_SAFE_INTEGER ? [] : [`to ${most}`]),
  ];
  return words.join(' ');
};

const mergeText = ({ metas = [] }: DescribedSetting): string =>
  metas.flatMap(({ merge }) => (merge ? [describeMergeRule(merge)] : [])).join();

/** @param sectionMerge rule of the whole section in words; empty when each setting has its own */
const settingRows = (path: string, { keys, ...setting }: DescribedSetting, sectionMerge: string): string[][] => {
  const inner = Object.entries(keys ?? {}).flatMap(([name, one]) => settingRows(`${path}.${name}`, one, sectionMerge));
  const { default: standard, description = '' } = setting.flags ?? {};
  const shown = standard === undefined ? '' : `\`${JSON.stringify(standard)}\``;
  const merge = sectionMerge || mergeText(setting);
  const row = [`\`${path}\``, describeType(setting), shown, description, merge, settingActor(path) ?? ''];
  return inner.length > 0 ? inner : [row];
};

const mergeRules = (table: Table) => [
  'Merge: how the values of several documents combine. Restricting settings combine by the stricter value, in any order of documents:',
  table(
    ['Merge', 'Effective value'],
    [
      ['smallest', 'the smallest number'],
      [
        'smallest, 0 aside',
        'the smallest number above 0; 0 is no limit. `limits.max_concurrent_jobs` replaces `rate_limits.concurrent_jobs` within one document only, as do the limits of runs',
      ],
      [
        'smallest sum with the limit of its document',
        'intake accepts the smallest sum of `concurrent_jobs` and `queue_size` that any document sets',
      ],
      ['first of …', 'the first named of the values that are set'],
      [
        'a match in every list',
        'a single list is unchanged. Lists of several documents become an array of lists, `[["job.a.*"], ["job.*.b"]]`: a value is allowed when it matches an entry of each, so lists without a common entry allow nothing. Workers that read such a setting must handle both forms. Empty lists restrict nothing; a list that has all entries of another is omitted',
      ],
      ['with …', 'alias of that list in a document; the effective config has only the other name'],
      ['all entries', 'the entries of all lists'],
      ['off wins', 'per switch: off when any document turns it off'],
      [
        'narrowest',
        'no restriction: the narrowest document that has the setting. The same holds for unknown settings in a section with restricting ones',
      ],
      [
        'narrowest section',
        'no restriction: the section of the narrowest document that has it, as a whole. The same holds for unknown sections',
      ],
      [
        'each layer counts',
        'not merged: the limits of the tenant (its org document, else `system/default`), the team and the workflow all apply. For the limits on one job and one run the narrowest document wins, and no team, workflow or step document raises one that is set for the tenant',
      ],
    ],
  ),
  'Documents of teams, workflows and steps only tighten: where neither `system/default` nor the org document has a setting, a value in them that is laxer than the default has no effect. The same holds for `open` as a fail mode, whose default is an environment variable.',
];

/** Sections of docs/settings.md. */
export const settingParts = (table: Table): string[] => [
  'Sections of `system/default`, and of org, team, workflow and step documents ([operations](operations.md#config-documents)). A known setting must have its type. Unknown sections and settings are kept as they are and sent to workers with the rest. A default applies where no document has the setting, unless the meaning says otherwise.',
  ...mergeRules(table),
  'Applied by: the platform; the worker, which gets the effective config of each job as `SVC_EFFECTIVE_CONFIG`; or none, when a setting is only validated and stored.',
  `A write is refused when no code would read it: ${Object.entries(sectionHomes)
    .map(([name, home]) => `\`${name}\` outside of \`${home}\``)
    .join(
      ', ',
    )}, any other section in \`system/policy\`, and in every document the sections of policy documents (${policySections.map((name) => `\`${name}\``).join(', ')}), which belong in [policy bundles](operations.md#policy-bundles). \`null\`, which removes a section, is accepted everywhere.`,
  ...Object.entries(settingSections).flatMap(([name, section]: [string, Joi.Schema]) => {
    const described = section.describe() as DescribedSetting;
    const merge = mergeText(described) === 'narrowest' ? 'narrowest section' : mergeText(described);
    const rows = Object.entries(described.keys ?? {}).flatMap(([field, one]) =>
      settingRows(`${name}.${field}`, one, merge),
    );
    return [
      `## ${name}`,
      described.flags?.description ?? '',
      table(['Setting', 'Type', 'Default', 'Meaning', 'Merge', 'Who acts'], rows),
    ];
  }),
];
