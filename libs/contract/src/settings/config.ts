import Joi from 'joi';
import { endpoint } from '../endpoint';
import { anyObject, flag, text, trimmed } from '../fields';
import { limits } from '../limits';
import { configScopes, type ConfigScope } from './settings';
import { shape } from '../shape';

/** A config document as it is stored. */
export interface ConfigView {
  scope: ConfigScope;
  scope_id: string;
  data: Record<string, unknown>;
  revision: number;
  updated_at: string;
  meta: Record<string, string>;
}

/** Which document is asked for. See docs/reference/config.md#documents. */
export interface ConfigQuery {
  scope: ConfigScope;
  scope_id?: string;
  envelope: boolean;
  revision?: number;
}

/** Which documents are merged: one scope, or any of the ids. */
export interface EffectiveQuery {
  scope?: ConfigScope;
  scope_id?: string;
  org_id?: string;
  team_id?: string;
  workflow_id?: string;
  step_id?: string;
}

export interface EffectiveView {
  version: string;
  hash: string;
  data: Record<string, unknown>;
}

/** A write that names its document. Without a string `scope` the whole body is data for system/default. */
export interface ConfigWrite {
  scope: ConfigScope;
  scope_id?: string;
  data: Record<string, unknown>;
  meta: Record<string, string | null>;
  revision?: number;
}

const access = { permission: 'config.read', roles: ['admin', 'operator'] } as const;
const invalid = 'config_request_invalid';
const scope = Joi.string<ConfigScope>().valid(...configScopes);
const id = (description: string) => trimmed().allow('').empty('').max(limits.idChars).description(description);
const revision = Joi.number().integer().min(0).max(Number.MAX_SAFE_INTEGER);

export const getConfig = endpoint({
  id: 'config.get',
  method: 'get',
  path: '/api/v1/config',
  summary: 'The data of one config document',
  description:
    'Only admins read scope system. Of its documents other than `default`, which hold what belongs to all tenants, only those who may act for the default tenant are shown any.',
  access,
  params: {},
  query: shape<ConfigQuery>({
    required: {
      scope: scope.empty('').default('system').description('Scope of the document.'),
      envelope: flag(false).description('Answer with the whole document rather than its data alone.'),
    },
    optional: {
      scope_id: id('Id within the scope; `default` for system and the caller’s tenant for org when left out.'),
      revision: revision.min(1).description('An earlier revision; the last 20 are kept.'),
    },
  }),
  violationCodes: { scope: invalid, scope_id: invalid, revision: invalid },
  answer: {
    status: 200,
    body: anyObject('The data; with `envelope=true` scope, scope_id, data, revision, updated_at and meta.'),
  },
  errors: [invalid, 'config_place_forbidden', 'config_not_found'],
});

export const effectiveConfig = endpoint({
  id: 'config.effective',
  method: 'get',
  path: '/api/v1/config/effective',
  summary: 'Config documents merged, as a job of that place has them',
  description:
    'Restricting settings combine by the stricter value; of all others the narrower document decides. system/default and the tenant’s own document are always among them.',
  access,
  params: {},
  query: shape<EffectiveQuery>({
    required: {},
    optional: {
      scope: scope.empty('').description('One scope over system and the tenant’s own; not together with the ids.'),
      scope_id: id('Id within that scope.'),
      org_id: id('Must be the caller’s tenant.'),
      team_id: id('Team.'),
      workflow_id: id('Workflow.'),
      step_id: id('Step.'),
    },
  }),
  violationCodes: Object.fromEntries(
    ['scope', 'scope_id', 'org_id', 'team_id', 'workflow_id', 'step_id'].map((field) => [field, invalid]),
  ),
  answer: {
    status: 200,
    body: shape<EffectiveView>({
      required: {
        version: text('Revision of each document, 0 where there is none: `system:3|org:1|team:0|workflow:0|step:0`.'),
        hash: text('SHA-256 (hex) of the data as JSON with sorted keys and no spaces.'),
        data: anyObject('The merged data.'),
      },
    }),
  },
  errors: [invalid, 'config_place_forbidden'],
});

const written = Joi.any();
const write = {
  path: '/api/v1/config',
  description:
    'Each top-level key of the data replaces that key; other keys stay, and null removes one. A body without a string `scope` is, as a whole, data for system/default. A section that no code reads from that document, such as `output_policy`, is refused.',
  access: { permission: 'config.write', roles: ['admin'] },
  params: {},
  // What the fields must be depends on the form: `configWrite` says.
  body: Joi.object<Record<string, unknown>>({
    scope: written.description(`Scope of the document, one of ${configScopes.join(', ')}.`),
    scope_id: written.description('Id within the scope; `default` for system and the tenant for org when left out.'),
    data: written.description('Object: the keys to replace.'),
    meta: written.description('Texts about the document, merged in the same way.'),
    revision: written.description('The revision that was read: refused when another was written since.'),
  }).unknown(),
  answer: { status: 204 },
  errors: [
    invalid,
    'config_invalid',
    'config_key_forbidden',
    'config_place_forbidden',
    'config_not_found',
    'config_version_conflict',
    'policy_signing_required',
    'tier_limit_exceeded',
  ],
} as const;

export const putConfig = endpoint({
  ...write,
  id: 'config.put',
  method: 'put',
  summary: 'Change a config document',
});

export const postConfig = endpoint({
  ...write,
  id: 'config.post',
  method: 'post',
  summary: 'Change a config document (the same as PUT)',
});

/** What the wrapped form of a write holds. */
export const configWrite = shape<ConfigWrite>({
  required: {
    scope,
    data: anyObject('The keys to replace.'),
    meta: Joi.object().pattern(/.*/, Joi.string().allow('', null)).default({}),
  },
  optional: { scope_id: id('Id within the scope.'), revision },
});

export const configEndpoints = [getConfig, effectiveConfig, putConfig, postConfig] as const;
