import Joi from 'joi';
import { endpoint } from '../endpoint';
import { text } from '../fields';
import { shape } from '../shape';
import { lastWritten, policyRead, policyWrite, sha256, signedFields, type Signed } from './fields';

export const globalSections = [
  'input_rules',
  'output_rules',
  'edge_action_rules',
  'mcp_tool_rules',
  'invariants',
] as const;
export type GlobalSection = (typeof globalSections)[number];

/** See docs/reference/policy.md#bundles. */
export interface GlobalSectionView {
  bundle_id: string;
  content: string;
  sha256: string;
  enabled: boolean;
}
export interface GlobalPolicyView {
  snapshot_version: string;
  snapshot_hash: string;
  updated_at: string | null;
  sections: Record<string, GlobalSectionView>;
}
export interface GlobalSectionBody {
  content: string;
  enabled?: boolean;
}
export interface GlobalPolicyBody extends Signed {
  snapshot_version?: string;
  sections: Partial<Record<GlobalSection, GlobalSectionBody>>;
}

const view = shape<GlobalPolicyView>({
  required: {
    snapshot_version: text('Names what all sections are now; send it with the next write.'),
    snapshot_hash: text('The same.'),
    updated_at: lastWritten('When any section was last written.'),
    sections: Joi.object()
      .pattern(
        /.*/,
        shape<GlobalSectionView>({
          required: {
            bundle_id: text('Bundle that holds the section.'),
            content: text('The policy document, YAML; empty when there is none.'),
            sha256: sha256('Of the content; empty when there is none.'),
            enabled: Joi.boolean().description('Whether it is in force.'),
          },
        }),
      )
      .description(`By name: ${globalSections.join(', ')}.`),
  },
});

const section = shape<GlobalSectionBody>({
  required: { content: Joi.string().allow('').description('The policy document, YAML; empty removes the section.') },
  optional: { enabled: Joi.boolean().description('Whether it is to be in force; as it was when left out.') },
});
const sections: Joi.Schema<GlobalPolicyBody['sections']> = Joi.object(
  Object.fromEntries(globalSections.map((name) => [name, section])),
);

export const getGlobalPolicy = endpoint({
  id: 'policy.getGlobal',
  method: 'get',
  path: '/api/v1/policy/global',
  owner: 'installation',
  summary: 'The global policy by section',
  access: policyRead,
  params: {},
  answer: { status: 200, body: view },
  errors: [],
});

export const putGlobalPolicy = endpoint({
  id: 'policy.putGlobal',
  method: 'put',
  path: '/api/v1/policy/global',
  owner: 'installation',
  summary: 'Write sections of the global policy',
  description: 'All named sections change at once, or none; the others stay.',
  access: policyWrite,
  params: {},
  body: shape<GlobalPolicyBody>({
    required: { sections: sections.description('Sections to write, by name.') },
    optional: {
      ...signedFields,
      snapshot_version: Joi.string()
        .max(128)
        .description('What was read; refuses the write when anything changed since.'),
    },
  }),
  answer: { status: 200, body: view },
  errors: ['policy_validation_failed', 'tier_limit_exceeded', 'policy_version_conflict', 'policy_signing_required'],
});

export const globalPolicyEndpoints = [getGlobalPolicy, putGlobalPolicy] as const;
