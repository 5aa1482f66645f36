/** Config scopes from broadest to narrowest. */
export const configScopes = ['system', 'org', 'team', 'workflow', 'step'] as const;
export type ConfigScope = (typeof configScopes)[number];

/** Approvals of a run that its starter may resolve. See docs/reference/jobs.md#approvals. */
export const runStarterRules = ['allow', 'deny_policy_holds', 'deny'] as const;
export type RunStarterRule = (typeof runStarterRules)[number];

/** `tighten`: a workflow's `policy_override` never relaxes decisions of the wider policy. `extend`: it may allow more. */
export const overrideModes = ['tighten', 'extend'] as const;
export type OverrideMode = (typeof overrideModes)[number];

/**
 * Defaults of the system settings that the product reads, section by section. A section in
 * a config document replaces the default section's keys one by one.
 */
export const defaultSettings = {
  retry: {
    max_retries: 3,
    initial_backoff: '1s',
    max_backoff: '30s',
    backoff_multiplier: 2,
    retryable_errors: ['network_error', 'timeout'],
    non_retryable_errors: ['bad_request'],
  },
  resources: {
    default_priority: 'interactive',
    max_timeout_seconds: 300,
    default_timeout_seconds: 60,
    preemption_enabled: true,
    preemption_grace_period: 30,
  },
  approvals: { run_starter: 'deny_policy_holds' },
} as const;
