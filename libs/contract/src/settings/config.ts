import Joi from 'joi';
import { endpoint } from '../endpoint';
import { anyObject, flag, text, trimmed } from '../fields';
import { limits } from '../limits';
import { configScopes, type ConfigScope } from './settings';
import { shape } from '../shape';

/** A stored config document. */
export interface ConfigView {
  scope: ConfigScope;
  scope_id: string;
  data: Record<string, unknown>;
  revision: number;
  updated_at: string;
  meta: Record<string, string>;
}

/** Selects one document. See docs/reference/config.md#documents. */
export interface ConfigQuery {
  scope: ConfigScope;
  scope_id?: string;
  envelope: boolean;
  revision?: number;
}

/** Selects the documents to merge: by one scope, or by ids. */
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
  summary: 'Read a config document',
  description:
    'Scope system is readable by admins only. Its documents other than `default` hold records of all tenants and are readable only by callers with access to the default tenant.',
  access,
  params: {},
  query: shape<ConfigQuery>({
    required: {
      scope: scope.empty('').default('system').description('Scope of the document.'),
      envelope: flag(false).description('Return the whole document instead of its data alone.'),
    },
    optional: {
      scope_id: id('Id within the scope; when omitted, `default` for system and the caller’s tenant for org.'),
      revision: revision.min(1).description('Revision to read; the last 20 are kept.'),
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
  summary: 'Read the effective config of a scope',
  description:
    'For restricting settings the strictest value applies, for all others the narrowest document. system/default and the tenant’s document are always included.',
  access,
  params: {},
  query: shape<EffectiveQuery>({
    required: {},
    optional: {
      scope: scope
        .empty('')
        .description('One scope to merge over system and the tenant’s document; cannot be combined with the ids.'),
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
        version: text('Revision of each document, 0 if there is none: `system:3|org:1|team:0|workflow:0|step:0`.'),
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
    'Each top-level key of the data replaces the stored key; null removes a key, and other keys are unchanged. A body without a string `scope` is data for system/default. A section that has no effect in that document, such as `output_policy`, is rejected.',
  access: { permission: 'config.write', roles: ['admin'] },
  audit: { type: 'governance.config_change', action: 'config.put', resource: ['config', 'scope_id'], severity: 'HIGH' },
  params: {},
  // The types of the fields depend on the form of the body, see `configWrite`.
  body: Joi.object<Record<string, unknown>>({
    scope: written.description(`Scope of the document, one of ${configScopes.join(', ')}.`),
    scope_id: written.description('Id within the scope; when omitted, `default` for system and the tenant for org.'),
    data: written.description('Object: the keys to replace.'),
    meta: written.description('Annotations of the document, merged in the same way.'),
    revision: written.description('Revision that was read; the write is rejected if a newer one exists.'),
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

/** The wrapped form of a write. */
export const configWrite = shape<ConfigWrite>({
  required: {
    scope,
    data: anyObject('The keys to replace.'),
    meta: Joi.object().pattern(/.*/, Joi.string().allow('', null)).default({}),
  },
  optional: { scope_id: id('Id within the scope.'), revision },
});

export const configEndpoints = [getConfig, effectiveConfig, putConfig, postConfig] as const;
