import { variables, type EnvOf, type Rule } from './declare';

/** Of the gateway, which takes and sends the snapshots. */
export const telemetryVariables = variables({
  telemetryMode: {
    name: 'SVC_TELEMETRY_MODE',
    type: 'enum',
    choices: ['off', 'local_only', 'anonymous'],
    spellings: {
      ...{ disabled: 'off', false: 'off', '0': 'off', no: 'off', anon: 'anonymous' },
      ...{ local: 'local_only', 'local-only': 'local_only' },
    },
    default: 'local_only',
    doc: 'Telemetry until an administrator chooses: off, local_only (snapshots are stored and never sent) or anonymous.',
  },
  telemetryEndpoint: {
    name: 'SVC_TELEMETRY_ENDPOINT',
    type: 'url',
    doc: 'Receives the snapshots of mode anonymous; https only. Without it nothing is sent.',
  },
});

export const telemetryRules: Rule<EnvOf<typeof telemetryVariables>> = ({ telemetryEndpoint: url }) =>
  url === undefined || url.startsWith('https://')
    ? []
    : [{ name: 'SVC_TELEMETRY_ENDPOINT', expected: 'an https:// URL', fix: 'Use https, or unset it.' }];
