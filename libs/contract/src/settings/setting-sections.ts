import Joi from 'joi';
import { layeredSection, merged, readMergeField, wholeSection, type MergeField } from './setting-merge';
import { defaultSettings, overrideModes, runStarterRules } from './settings';

/*
 * The known sections of config documents. Unknown sections and keys are accepted unchecked, since other software may own
 * them; known keys are validated. Defaults are declared here and applied by the reader of the setting.
 */

const yes = (description: string, standard?: boolean) => setting(Joi.boolean(), description, standard);
const whole = (description: string, standard?: number) =>
  setting(Joi.number().integer().min(0).max(Number.MAX_SAFE_INTEGER), description, standard);
const amount = (description: string, standard?: number) => setting(Joi.number().min(0), description, standard);
const words = (description: string, standard?: readonly string[]) =>
  setting(Joi.array().items(Joi.string()), description, standard);
const word = (description: string, standard?: string) => setting(Joi.string().allow(''), description, standard);
const one = (of: readonly string[], description: string, standard?: string) =>
  setting(Joi.string().valid(...of), description, standard);
const span = (description: string, standard?: string) =>
  setting(
    Joi.string()
      .pattern(/^\d+(\.\d+)?(ms|s|m|h)$/)
      .messages({ 'string.pattern.base': '{{#label}} must be a number and ms, s, m or h, such as 1s' }),
    description,
    standard,
  );
const texts = (description: string) => Joi.object().pattern(/.*/, Joi.string().allow('')).description(description);
const group = (description: string, fields: Record<string, Joi.Schema>) =>
  Joi.object(fields).unknown().description(description);
const toggles = (description: string) =>
  Joi.object()
    .pattern(/.*/, group('Switch by name.', { enabled: yes('Whether it is offered.', true) }))
    .description(description);

function setting<S extends Joi.Schema>(schema: S, description: string, standard: unknown): Joi.Schema {
  const described = schema.description(description);
  return standard === undefined ? described : described.default(standard);
}

const { retry, resources, approvals } = defaultSettings;
const rate = (span: string) =>
  `Maximum requests per tenant to the gateway in ${span}, in addition to the limits of the gateway and the license; 0 or not set = no limit.`;
const failModes = ['closed', 'open'];
const piiActions = ['block', 'redact', 'warn'];

const { narrowest, limit, lowest, onWins, offWins, everyList, union } = merged;
const intakeLimits = ['limits.max_concurrent_jobs', 'rate_limits.concurrent_jobs'];
const mcpLists = Object.fromEntries(
  ['_servers', '_tools', '_resources', '_actions'].flatMap((what) => [
    [`allow${what}`, what === '_tools' ? merged.everyListWith('allow', words('Globs.')) : everyList(words('Globs.'))],
    [`deny${what}`, union(words('Globs.'))],
  ]),
);

/**
 * Sections allowed in any layer, with their merge rules: a section that declares a rule is taken as a whole from one
 * document; in all others each setting declares its own. Specification: "System settings fields".
 */
export const settingSections: Readonly<Record<string, Joi.ObjectSchema>> = {
  safety: group('Content scanning, and allowed topics and MCP servers.', {
    pii_detection_enabled: onWins(yes('Detect personal data.', true)),
    pii_action: merged.strictest(piiActions, one(piiActions, 'Action when personal data is found.', 'block')),
    pii_types_to_detect: union(words('Kinds of personal data to detect.', ['email', 'phone'])),
    injection_detection: onWins(yes('Detect injected instructions.', true)),
    injection_sensitivity: merged.strictest(
      ['high', 'medium', 'low'],
      one(['low', 'medium', 'high'], 'Sensitivity of the detection.', 'high'),
    ),
    content_filter_enabled: onWins(yes('Filter content by category.', true)),
    blocked_categories: union(words('Categories to filter.', ['hate_speech', 'sexual_content'])),
    anomaly_detection: onWins(yes('Detect anomalies.', false)),
    allowed_topics: everyList(words('Globs of allowed topics; when set, all other topics are denied.', [])),
    denied_topics: union(words('Globs of denied topics.', [])),
    mcp: group('MCP lists, enforced regardless of policy rules.', {
      allow: merged.joined('allow_tools', words('Globs of tools.')),
      deny: union(words('Globs of tools.')),
      ...mcpLists,
      dangerous_parameters: union(words('Names of arguments that action checks reject.')),
      policy_mode: merged.strictest(
        ['enterprise-strict', 'enforce', 'observe'],
        one(['observe', 'enforce', 'enterprise-strict'], 'Strictness of checks on MCP calls of agents.'),
      ),
      allowed_upstreams: everyList(words('Allowed upstream servers.')),
      allow_plain_http: offWins(yes('Whether upstream servers without TLS are allowed.')),
    }),
  }),
  budget: layeredSection(
    group('Cost limits. In effect once a document contains the section; each layer adds its own limits.', {
      daily_limit_usd: amount('Limit per day (UTC) in US dollars; 0 = no limit.', 1_000),
      monthly_limit_usd: amount('Limit per month (UTC) in US dollars; 0 = no limit.', 10_000),
      per_job_max_usd: amount('Maximum estimated cost of one job; 0 = no limit.', 5),
      per_workflow_max_usd: amount('Maximum cost of the jobs of a run and of its child runs; 0 = no limit.', 50),
      alert_at_percent: setting(
        Joi.array().items(Joi.number().min(0).max(100)).max(20),
        'Percentages of a limit that raise an alert when reached; the limit itself always does.',
        [50, 75, 90, 100],
      ),
      action_at_limit: one(
        ['throttle', 'deny', 'alert'],
        'Action for jobs over a limit: throttle = wait, deny, or alert = run and raise an alert.',
        'throttle',
      ),
      cost_attribution_enabled: yes('Whether spending is also attributed to the label cost_center.', true),
      cost_centers: words('Known cost centers; when set, other names count as unattributed.', []),
    }),
  ),
  rate_limits: group('Limits on requests, jobs and runs.', {
    requests_per_minute: limit(whole(rate('a minute'), 120_000)),
    requests_per_hour: limit(whole(rate('an hour'), 7_200_000)),
    burst_size: limit(whole(rate('a second'), 4_000)),
    concurrent_jobs: limit(
      whole('Maximum unfinished jobs of a tenant, in addition to queue_size; 0 or not set = no limit.', 10_000),
    ),
    concurrent_workflows: limit(whole('Maximum unfinished runs of a workflow; 0 or not set = no limit.', 5)),
    queue_size: merged.addedTo(intakeLimits, whole('Maximum waiting jobs in addition to concurrent_jobs.', 5_000)),
  }),
  limits: group('Limits that take precedence over those of rate_limits.', {
    max_concurrent_jobs: merged.limitOr(
      'rate_limits.concurrent_jobs',
      whole('Replaces rate_limits.concurrent_jobs; 0 = no limit.'),
    ),
    max_concurrent_runs: merged.limitOr(
      'rate_limits.concurrent_workflows',
      whole('Replaces rate_limits.concurrent_workflows; 0 = no limit.'),
    ),
  }),
  retry: wholeSection(
    group('Retries of failed jobs.', {
      max_retries: setting(Joi.number().integer().min(0).max(100), 'Maximum number of retries.', retry.max_retries),
      initial_backoff: span('Delay before the first retry.', retry.initial_backoff),
      max_backoff: span('Maximum delay before a retry.', retry.max_backoff),
      backoff_multiplier: setting(
        Joi.number().min(1).max(100),
        'Factor by which the delay grows.',
        retry.backoff_multiplier,
      ),
      retryable_errors: words('Error codes that are retried even after FAILED.', retry.retryable_errors),
      non_retryable_errors: words(
        'Error codes that are never retried; takes precedence over retryable_errors.',
        retry.non_retryable_errors,
      ),
    }),
  ),
  resources: group('Priorities, deadlines and parallelism of jobs.', {
    default_priority: narrowest(
      one(
        ['critical', 'interactive', 'batch'],
        'Priority of jobs that name none; workflow steps are batch.',
        resources.default_priority,
      ),
    ),
    max_timeout_seconds: limit(
      whole('Maximum deadline of a job; 0 or not set = no limit.', resources.max_timeout_seconds),
    ),
    default_timeout_seconds: narrowest(
      whole('Deadline of jobs that name none, if SVC_DEFAULT_DEADLINE enables it.', resources.default_timeout_seconds),
    ),
    max_parallel_steps: limit(setting(Joi.number().integer().min(1), 'Maximum concurrent steps of a run.', 10)),
    preemption_enabled: narrowest(yes('Whether a critical job may preempt a batch job.', resources.preemption_enabled)),
    preemption_grace_period: narrowest(
      whole(
        'Grace period of a preempted job, after which it is requeued at the latest.',
        resources.preemption_grace_period,
      ),
    ),
  }),
  models: group('Models that workers may use.', {
    allowed_models: everyList(words('Allowed models; when set, no other model is used.')),
    default_model: narrowest(word('Model of jobs that name none.')),
    fallback_models: narrowest(words('Fallback models, in order of preference.')),
  }),
  context: group('Context and memory of workers.', {
    allowed_memory_ids: everyList(
      words('Globs of allowed memories; when set, all others are denied; not set = all.', ['repo:*', 'kb:*']),
    ),
    denied_memory_ids: union(words('Globs of denied memories.', [])),
    shared_memory_ids: narrowest(words('Globs of memories shared by all tenants; read from system/default only.', [])),
    max_context_tokens: lowest(whole('Maximum tokens of the context window.', 4_000)),
    max_retrieved_chunks: lowest(whole('Maximum retrieved chunks.', 10)),
    cross_tenant_access: offWins(yes('Whether memory of other tenants is accessible.', false)),
    allowed_connectors: everyList(words('Allowed connectors; when set, no other connector is used.')),
    redaction_policies: narrowest(group('Stored; has no effect.', {})),
  }),
  slo: wholeSection(
    group('Service level objectives of jobs.', {
      target_p95_latency_ms: amount('Target 95th percentile of the latency, in ms.', 1_000),
      error_rate_budget: setting(Joi.number().min(0).max(1), 'Fraction of jobs that may fail.', 0.01),
      timeout_seconds: whole('Timeout in seconds.', 60),
      critical: yes('Whether a violation pages the operator.', false),
    }),
  ),
  scheduler: group('Scheduling of the jobs of a tenant.', {
    weight: narrowest(setting(Joi.number().min(1).max(100), 'Weight of the tenant in fair queuing.', 1)),
    input_fail_mode: merged.strictest(
      failModes,
      one(failModes, 'Fail mode when policy is unavailable; POLICY_CHECK_FAIL_MODE when not set.'),
    ),
    output_fail_mode: merged.strictest(
      failModes,
      one(failModes, 'Fail mode when output cannot be checked; the mode of the policy when not set.'),
    ),
  }),
  approvals: group('Permissions to resolve approvals.', {
    run_starter: merged.strictest(
      ['deny', 'deny_policy_holds', 'allow'],
      one(
        runStarterRules,
        'Approvals of a run that its starter may resolve: all, all except steps held by policy, or none. Steps with exclude_starter always exclude the starter.',
        approvals.run_starter,
      ),
    ),
  }),
  policy: wholeSection(
    group('Evaluation of policy; read from system/default only.', {
      overrides: one(
        overrideModes,
        'Whether a workflow’s policy_override can only tighten the decisions of the wider policy, or may also allow requests that no rule of it matches.',
        'tighten',
      ),
    }),
  ),
  boundary_hardening: wholeSection(
    group('Switches that the environment overrides; read from system/default only.', {
      schema_enforcement: one(['off', 'warn', 'enforce'], 'Enforcement of topic schemas.', 'warn'),
      worker_attestation: one(
        ['off', 'warn', 'enforce'],
        'Whether workers must present a credential: not checked, reported when it is missing or wrong, or required.',
        'off',
      ),
      worker_readiness_required: yes('Whether workers receive jobs only after they announce readiness.', false),
    }),
  ),
  mcp: group('The MCP server.', {
    enabled: offWins(yes('Whether the routes of the MCP server are served.', false)),
    transport: narrowest(
      setting(
        Joi.alternatives(Joi.valid('http', 'stdio', 'both'), Joi.array().items(Joi.valid('http', 'stdio'))),
        'http, stdio, both, or a list.',
        'http',
      ),
    ),
    policy_gate_enabled: onWins(yes('Whether policy evaluates each tool call.', false)),
    port: narrowest(
      setting(
        Joi.number().integer().min(0).max(65_535),
        'Port announced to clients; nothing listens on it.',
        undefined,
      ),
    ),
    require_agent_identity: onWins(yes('Whether callers must be agents.', false)),
    tools: merged.switches(toggles('Tools by name.')),
    resources: merged.switches(toggles('Resources by name.')),
  }),
  observability: wholeSection(
    group('Stored for dashboards; has no effect.', {
      otel: group('Traces and metrics.', {
        enabled: yes('Whether it is enabled.'),
        endpoint: word('Endpoint.'),
        protocol: one(['grpc', 'http'], 'Protocol.'),
        headers: texts('Headers.'),
        resource_attributes: texts('Attributes.'),
      }),
      metrics_ui: group('Links to dashboards.', {
        base_url: word('Base URL.'),
        dashboards: group('Dashboards.', { system_overview: word('Name.'), workflow_performance: word('Name.') }),
      }),
    }),
  ),
  alerting: wholeSection(
    group('Stored for dashboards; has no effect.', {
      pager: group('Pager.', {
        enabled: yes('Whether it is enabled.'),
        integration_key: word('Integration key.'),
        severity: word('Minimum severity.', 'critical'),
      }),
      chat: group('Chat.', {
        enabled: yes('Whether it is enabled.'),
        webhook_url: word('Webhook URL.'),
        severity: word('Minimum severity.', 'error'),
      }),
    }),
  ),
};

/** Merge rules by section. */
export const settingMerge: Readonly<Record<string, MergeField>> = Object.fromEntries(
  Object.entries(settingSections).map(([name, schema]) => [name, readMergeField(schema)]),
);

/** Settings of the installation itself, which are not sent to workers. */
export const installationSections = [
  ...(['pools', 'timeouts', '_poolsFileHash', '_timeoutsFileHash'] as const),
  // Written by PUT /api/v1/auth/oidc/group-role-mapping.
  ...(['SVC_OIDC_GROUPS_CLAIM', 'SVC_OIDC_GROUP_ROLE_MAPPING'] as const),
] as const;

/**
 * Sections that are read from one document only. All other sections of the documents merged for a job, known or not, are
 * sent to workers, so only these sections and those of policy documents have no effect elsewhere.
 */
export const sectionHomes: Readonly<Record<string, string>> = {
  ...Object.fromEntries(installationSections.map((name) => [name, 'system/default'])),
  policy: 'system/default',
  boundary_hardening: 'system/default',
  bundles: 'system/policy',
};

/**
 * Component that enforces a setting: the platform; workers, which receive the effective config of each job as
 * SVC_EFFECTIVE_CONFIG; or none, for settings that are only validated and stored.
 */
export type SettingActor = 'platform' | 'worker' | 'none';

/** A path covers all settings below it; the longest matching path wins. */
const actors: Readonly<Record<string, SettingActor>> = {
  safety: 'worker',
  'safety.allowed_topics': 'platform',
  'safety.denied_topics': 'platform',
  'safety.mcp': 'platform',
  'safety.mcp.policy_mode': 'none',
  'safety.mcp.allowed_upstreams': 'none',
  'safety.mcp.allow_plain_http': 'none',
  budget: 'platform',
  rate_limits: 'platform',
  limits: 'platform',
  retry: 'platform',
  resources: 'platform',
  models: 'worker',
  context: 'worker',
  'context.allowed_memory_ids': 'platform',
  'context.denied_memory_ids': 'platform',
  'context.shared_memory_ids': 'platform',
  'context.redaction_policies': 'none',
  slo: 'none',
  scheduler: 'platform',
  approvals: 'platform',
  policy: 'platform',
  boundary_hardening: 'platform',
  mcp: 'none',
  observability: 'none',
  alerting: 'none',
};

/** Component that enforces a setting such as `retry.max_retries`; undefined for an unknown setting. */
export function settingActor(path: string): SettingActor | undefined {
  const paths = Object.keys(actors).filter((known) => path === known || path.startsWith(`${known}.`));
  const longest = paths.sort((a, b) => b.length - a.length)[0];
  return longest === undefined ? undefined : actors[longest];
}

/** Paths with a declared actor. */
export const settingActorPaths: readonly string[] = Object.keys(actors);

export interface SettingFault {
  /** Such as `retry.max_retries`, `safety.denied_topics[2]`. */
  path: string;
  message: string;
}

const prefs = { abortEarly: false, convert: false, noDefaults: true, errors: { wrap: { label: false } } } as const;

/** Validates the known sections of a document's data; sections that are null (to be removed) are skipped. */
export function settingFaults(data: Readonly<Record<string, unknown>>): SettingFault[] {
  return Object.entries(data).flatMap(([name, value]) => {
    const schema = Object.hasOwn(settingSections, name) ? settingSections[name] : undefined;
    if (!schema || value === null) return [];
    const { error } = schema.label(name).validate(value, prefs);
    return (error?.details ?? []).map(({ path, message }) => ({ path: formatPath([name, ...path]), message }));
  });
}

const formatPath = (parts: readonly (string | number)[]): string =>
  parts.reduce<string>((text, part) => (typeof part === 'number' ? `${text}[${part}]` : text && part ? `${text}.${part}` : text || part), ''); // prettier-ignore
