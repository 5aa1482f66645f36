import Joi from 'joi';
import { endpoint } from '../endpoint';
import { anyObject, text } from '../fields';
import type { Access } from '../permissions';
import { shape } from '../shape';

const telemetryModes = ['off', 'local_only', 'anonymous'] as const;
/** `local_only`: snapshots are stored and never sent. `anonymous`: they are sent. See docs/operations.md#telemetry. */
export type TelemetryMode = (typeof telemetryModes)[number];

/** A snapshot: counts and switches of the installation, without names, ids and content. */
export interface TelemetrySnapshot {
  schema_version: number;
  /** RFC 3339. */
  collected_at: string;
  /** Random for each installation, 64 hexadecimal digits. */
  install_id: string;
  mode: TelemetryMode;
  version: string;
  tier: string;
  workers: { registered: number; connected: number };
  usage: Record<string, number>;
  features_enabled: Record<string, boolean>;
  engagement: Record<string, number | boolean>;
  limits_hit: Record<string, number>;
}

export interface TelemetryStatus {
  mode: TelemetryMode;
  endpoint?: string;
  last_collected_at?: string;
  last_reported_at?: string;
}

const read: Access = { permission: 'telemetry.read', roles: ['admin'] };
const exporting: Access = { permission: 'telemetry.export', roles: ['admin'] };
const refused = 'tenant_access_denied' as const;
const mode = Joi.string<TelemetryMode>().valid(...telemetryModes);
const snapshot = Joi.object<TelemetrySnapshot>().unknown().allow(null).description('The last snapshot, or null.');

export const getTelemetryStatus = endpoint({
  id: 'telemetry.status',
  method: 'get',
  path: '/api/v1/telemetry/status',
  summary: 'Telemetry mode, and when snapshots were taken and sent',
  owner: 'installation',
  access: read,
  params: {},
  answer: {
    status: 200,
    body: shape<TelemetryStatus>({
      required: { mode: mode.description('Mode in effect.') },
      optional: {
        endpoint: text('Receiver; only while snapshots are sent.'),
        last_collected_at: Joi.string().isoDate().description('Time of the last snapshot.'),
        last_reported_at: Joi.string().isoDate().description('Time at which one was last sent.'),
      },
    }),
  },
  errors: [refused],
});

export const inspectTelemetry = endpoint({
  id: 'telemetry.inspect',
  method: 'get',
  path: '/api/v1/telemetry/inspect',
  summary: 'The last snapshot, as it is or would be sent',
  owner: 'installation',
  access: exporting,
  params: {},
  answer: { status: 200, body: snapshot },
  errors: [refused],
});

export const exportTelemetry = endpoint({
  id: 'telemetry.export',
  method: 'get',
  path: '/api/v1/telemetry/export',
  summary: 'The last snapshot as a file, with the same bytes',
  owner: 'installation',
  access: exporting,
  params: {},
  answer: { status: 200, body: snapshot, headers: { 'Content-Disposition': 'attachment' } },
  errors: [refused],
});

export const getTelemetryUsage = endpoint({
  id: 'telemetry.usage',
  method: 'get',
  path: '/api/v1/telemetry/usage',
  summary: 'Usage in the last snapshot; empty without one',
  owner: 'installation',
  access: read,
  params: {},
  answer: { status: 200, body: anyObject('workers, usage, features_enabled, engagement, limits_hit') },
  errors: [refused],
});

export const setTelemetryConsent = endpoint({
  id: 'telemetry.consent',
  method: 'post',
  path: '/api/v1/telemetry/consent',
  summary: 'Choose the telemetry mode',
  description: 'Takes precedence over SVC_TELEMETRY_MODE. Without a choice or setting nothing is sent.',
  owner: 'installation',
  access: { permission: 'telemetry.write', roles: ['admin'] },
  audit: { type: 'telemetry.consent', action: 'telemetry.consent', resource: ['telemetry', 'mode'], severity: 'HIGH' },
  params: {},
  body: shape<{ mode: string }>({
    required: {
      mode: Joi.string()
        .allow('')
        .max(32)
        .description('off, local_only or anonymous, or an alias: disabled, false, 0, no; anon; local, local-only.'),
    },
  }),
  answer: {
    status: 200,
    body: shape<{ status: string; mode: TelemetryMode }>({
      required: { status: Joi.string().valid('updated'), mode: mode.description('Mode in effect.') },
    }),
  },
  errors: ['telemetry_mode_unknown', refused],
});

export const telemetryEndpoints = [
  getTelemetryStatus,
  inspectTelemetry,
  exportTelemetry,
  getTelemetryUsage,
  setTelemetryConsent,
] as const;
