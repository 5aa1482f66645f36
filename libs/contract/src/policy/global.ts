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
    snapshot_version: text('Version of all sections; send it with the next write.'),
    snapshot_hash: text('Same as snapshot_version.'),
    updated_at: lastWritten('Time of the last write to any section.'),
    sections: Joi.object()
      .pattern(
        /.*/,
        shape<GlobalSectionView>({
          required: {
            bundle_id: text('Bundle that contains the section.'),
            content: text('The policy document, YAML; empty when there is none.'),
            sha256: sha256('Hash of the content; empty when there is none.'),
            enabled: Joi.boolean().description('Whether it is in effect.'),
          },
        }),
      )
      .description(`Sections by name: ${globalSections.join(', ')}.`),
  },
});

const section = shape<GlobalSectionBody>({
  required: { content: Joi.string().allow('').description('The policy document, YAML; empty removes the section.') },
  optional: { enabled: Joi.boolean().description('Whether it takes effect; unchanged when omitted.') },
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
  description: 'All named sections change atomically; the others are unchanged.',
  access: policyWrite,
  audit: { type: 'safety.policy_change', action: 'policy.put_global', severity: 'HIGH' },
  params: {},
  body: shape<GlobalPolicyBody>({
    required: { sections: sections.description('Sections to write, by name.') },
    optional: {
      ...signedFields,
      snapshot_version: Joi.string()
        .max(128)
        .description('Version that was read; the write is rejected if anything changed since.'),
    },
  }),
  answer: { status: 200, body: view },
  errors: ['policy_validation_failed', 'tier_limit_exceeded', 'policy_version_conflict', 'policy_signing_required'],
});

export const globalPolicyEndpoints = [getGlobalPolicy, putGlobalPolicy] as const;
