import Joi from 'joi';
import { stringMap, strings, text } from '../fields';
import { limits } from '../limits';
import { shape } from '../shape';

export const actionKinds = ['file', 'url', 'tenant_query', 'mutation', 'mcp_call', 'provenance_check'] as const;
export type ActionKind = (typeof actionKinds)[number];

export const actionVerbs = [
  'read', 'write', 'delete', 'drop', 'truncate', 'export', 'payment', 'admin_grant', 'admin_revoke', 'role_assign',
  'role_remove', 'license_create', 'license_revoke', 'license_change', 'key_rotate', 'key_delete', 'secrets_write',
  'secrets_delete', 'config_write', 'config_delete', 'backup_restore', 'tenant_create', 'tenant_delete',
] as const; // prettier-ignore
export type ActionVerb = (typeof actionVerbs)[number];

export interface ActionResource {
  type?: string;
  id?: string;
  /** Stated by the client; the server's record of the owner takes precedence. */
  owner_tenant?: string;
  archived?: boolean;
}

/** The action to check. See docs/reference/policy.md#action-checks. */
export interface ActionBody {
  kind: ActionKind;
  verb: ActionVerb;
  server?: string;
  tool?: string;
  target_path?: string;
  target_url?: string;
  target_resource?: ActionResource;
  filters: Record<string, string>;
  /** Names of filters that match everything. */
  wildcards: string[];
  args?: Record<string, unknown>;
  risk_tags: string[];
  required_entitlement?: string;
  approval_claim?: { claim_text?: string; approval_ref?: string };
}

const MAX_ARGS_BYTES = 65_536;
const MAX_FILTERS = 100;
const MAX_TARGET_CHARS = 8_192;
const name = (description: string) => text(description).max(limits.idChars);

export const actionDescriptor = shape<ActionBody>({
  required: {
    kind: Joi.string<ActionKind>().valid(...actionKinds),
    verb: Joi.string<ActionVerb>().valid(...actionVerbs),
    filters: stringMap('Filters of a query.').max(MAX_FILTERS).default({}),
    wildcards: strings('Names of filters that match everything.').max(MAX_FILTERS).default([]),
    risk_tags: strings('Risk tags of the action.').max(limits.tags).default([]),
  },
  optional: {
    server: name('MCP server.'),
    tool: name('MCP tool.'),
    target_path: text('Path of a file.').max(MAX_TARGET_CHARS),
    target_url: text('URL.').max(MAX_TARGET_CHARS),
    target_resource: shape<ActionResource>({
      required: {},
      optional: {
        type: name('Type.'),
        id: name('Id.'),
        owner_tenant: name('Tenant that owns it.'),
        archived: Joi.boolean().description('Whether it is archived or deleted.'),
      },
    }),
    args: Joi.object()
      .unknown()
      .custom((value: unknown, helpers) =>
        Buffer.byteLength(JSON.stringify(value)) > MAX_ARGS_BYTES ? helpers.error('object.tooLarge') : value,
      )
      .messages({ 'object.tooLarge': `{{#label}} has more than ${MAX_ARGS_BYTES} bytes as JSON` })
      .description(`Arguments, at most ${MAX_ARGS_BYTES} bytes as JSON.`),
    required_entitlement: name('Required entitlement.'),
    approval_claim: shape<{ claim_text?: string; approval_ref?: string }>({
      required: {},
      optional: {
        claim_text: text('The claim.').max(limits.contentLabelBytes),
        approval_ref: name('Approval claimed for the action.'),
      },
    }),
  },
});
