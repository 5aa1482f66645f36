import Joi from 'joi';
import { layeredSection, merged, readMergeField, wholeSection, type MergeField } from './setting-merge';
import { defaultSettings, overrideModes, runStarterRules } from './settings';

/*
 * The sections of config documents that the product knows. Unknown sections, and unknown keys in a known one, are other
 * people's and pass; a known key has its type and range. Defaults are told here and applied by who reads the setting.
 */

const yes = (description: string, standard?: boolean) => told(Joi.boolean(), description, standard);
const whole = (description: string, standard?: number) =>
  told(Joi.number().integer().min(0).max(Number.MAX_SAFE_INTEGER), description, standard);
const amount = (description: string, standard?: number) => told(Joi.number().min(0), description, standard);
const words = (description: string, standard?: readonly string[]) =>
  told(Joi.array().items(Joi.string()), description, standard);
const word = (description: string, standard?: string) => told(Joi.string().allow(''), description, standard);
const one = (of: readonly string[], description: string, standard?: string) =>
  told(Joi.string().valid(...of), description, standard);
const span = (description: string, standard?: string) =>
  told(
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
    .pattern(/.*/, group('By name.', { enabled: yes('Offered.', true) }))
    .description(description);

function told<S extends Joi.Schema>(schema: S, description: string, standard: unknown): Joi.Schema {
  const described = schema.description(description);
  return standard === undefined ? described : described.default(standard);
}

const { retry, resources, approvals } = defaultSettings;
const rate = (span: string) =>
  `Requests of a tenant to the gateway in ${span}, below its own limit and the license’s; 0 or not set = no such limit.`;
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
 * Sections that any layer may have, and how several documents combine: a section that declares a rule is taken as a whole
 * from one document, in all others each setting declares its own. Spec: "System settings fields".
 */
export const settingSections: Readonly<Record<string, Joi.ObjectSchema>> = {
  safety: group('What scanning looks for, and which topics and MCP servers are allowed at all.', {
    pii_detection_enabled: onWins(yes('Look for personal data.', true)),
    pii_action: merged.strictest(piiActions, one(piiActions, 'What follows from finding some.', 'block')),
    pii_types_to_detect: union(words('Kinds of personal data.', ['email', 'phone'])),
    injection_detection: onWins(yes('Look for injected instructions.', true)),
    injection_sensitivity: merged.strictest(
      ['high', 'medium', 'low'],
      one(['low', 'medium', 'high'], 'How soon something counts as one.', 'high'),
    ),
    content_filter_enabled: onWins(yes('Filter content by category.', true)),
    blocked_categories: union(words('Categories that are filtered.', ['hate_speech', 'sexual_content'])),
    anomaly_detection: onWins(yes('Look for what is out of the ordinary.', false)),
    allowed_topics: everyList(words('Globs; when there is any, no other topic is let through.', [])),
    denied_topics: union(words('Globs of topics that are denied.', [])),
    mcp: group('MCP lists, which hold whatever the rules say.', {
      allow: merged.joined('allow_tools', words('Globs of tools.')),
      deny: union(words('Globs of tools.')),
      ...mcpLists,
      dangerous_parameters: union(words('Arguments that the action gates refuse, by name.')),
      policy_mode: merged.strictest(
        ['enterprise-strict', 'enforce', 'observe'],
        one(['observe', 'enforce', 'enterprise-strict'], 'How strictly agents’ MCP calls are checked.'),
      ),
      allowed_upstreams: everyList(words('Upstream servers that may be called.')),
      allow_plain_http: offWins(yes('Upstream servers without TLS are allowed.')),
    }),
  }),
  budget: layeredSection(
    group('What work may cost. Holds once a document has the section; each layer that has one adds its limits.', {
      daily_limit_usd: amount('US dollars a day, UTC; 0 = any amount.', 1_000),
      monthly_limit_usd: amount('US dollars a month, UTC; 0 = any amount.', 10_000),
      per_job_max_usd: amount('The most one job may be estimated to cost; 0 = any amount.', 5),
      per_workflow_max_usd: amount('What the jobs of a run, and of the runs it starts, may cost; 0 = any amount.', 50),
      alert_at_percent: told(
        Joi.array().items(Joi.number().min(0).max(100)).max(20),
        'Parts of a limit that are told when they are reached; the limit itself always is.',
        [50, 75, 90, 100],
      ),
      action_at_limit: one(
        ['throttle', 'deny', 'alert'],
        'Jobs beyond a limit wait, are denied, or run all the same.',
        'throttle',
      ),
      cost_attribution_enabled: yes('Spending is counted by the label cost_center as well.', true),
      cost_centers: words('When there are any, other names count as unattributed.', []),
    }),
  ),
  rate_limits: group('How much work is taken in.', {
    requests_per_minute: limit(whole(rate('a minute'), 120_000)),
    requests_per_hour: limit(whole(rate('an hour'), 7_200_000)),
    burst_size: limit(whole(rate('a second'), 4_000)),
    concurrent_jobs: limit(
      whole('Jobs of a tenant that have not ended, with queue_size; 0 or not set = no limit.', 10_000),
    ),
    concurrent_workflows: limit(whole('Runs of a workflow that have not ended; 0 or not set = no limit.', 5)),
    queue_size: merged.addedTo(intakeLimits, whole('Jobs beyond concurrent_jobs that may wait.', 5_000)),
  }),
  limits: group('Limits that go before those of rate_limits.', {
    max_concurrent_jobs: merged.limitOr(
      'rate_limits.concurrent_jobs',
      whole('In place of rate_limits.concurrent_jobs; 0 = no limit.'),
    ),
    max_concurrent_runs: merged.limitOr(
      'rate_limits.concurrent_workflows',
      whole('In place of rate_limits.concurrent_workflows; 0 = no limit.'),
    ),
  }),
  retry: wholeSection(
    group('How failed jobs are tried again.', {
      max_retries: told(Joi.number().integer().min(0).max(100), 'Tries after the first.', retry.max_retries),
      initial_backoff: span('Wait before the first.', retry.initial_backoff),
      max_backoff: span('The longest wait.', retry.max_backoff),
      backoff_multiplier: told(Joi.number().min(1).max(100), 'How waits grow.', retry.backoff_multiplier),
      retryable_errors: words('Error codes that are tried again even after FAILED.', retry.retryable_errors),
      non_retryable_errors: words('Error codes that never are; this list wins.', retry.non_retryable_errors),
    }),
  ),
  resources: group('Priorities and times of jobs.', {
    default_priority: narrowest(
      one(
        ['critical', 'interactive', 'batch'],
        'Of jobs that name none; steps of workflows are batch.',
        resources.default_priority,
      ),
    ),
    max_timeout_seconds: limit(whole('Latest deadline of a job; 0 or not set = none.', resources.max_timeout_seconds)),
    default_timeout_seconds: narrowest(
      whole(
        'Deadline of jobs that name none, if SVC_DEFAULT_DEADLINE asks for one.',
        resources.default_timeout_seconds,
      ),
    ),
    max_parallel_steps: limit(told(Joi.number().integer().min(1), 'Steps of a run at a time.', 10)),
    preemption_enabled: narrowest(yes('A critical job may stop a batch job.', resources.preemption_enabled)),
    preemption_grace_period: narrowest(
      whole(
        'Seconds that a stopped job has to end by itself, and after which it comes again at the latest.',
        resources.preemption_grace_period,
      ),
    ),
  }),
  models: group('Models that workers may use.', {
    allowed_models: everyList(words('Models; when there is any, no other is used.')),
    default_model: narrowest(word('Of jobs that name none.')),
    fallback_models: narrowest(words('Tried in this order.')),
  }),
  context: group('What workers are given to remember.', {
    allowed_memory_ids: everyList(
      words('Globs; when there is any, no other memory is; not set = any.', ['repo:*', 'kb:*']),
    ),
    denied_memory_ids: union(words('Globs of memories that jobs must not name.', [])),
    shared_memory_ids: narrowest(
      words('Globs of memories that every tenant may use; read from system/default only.', []),
    ),
    max_context_tokens: lowest(whole('Tokens of a window.', 4_000)),
    max_retrieved_chunks: lowest(whole('Pieces that are looked up.', 10)),
    cross_tenant_access: offWins(yes('Memory of other tenants.', false)),
    allowed_connectors: everyList(words('Connectors; when there is any, no other is used.')),
    redaction_policies: narrowest(group('Kept, and read by nothing.', {})),
  }),
  slo: wholeSection(
    group('What is promised of jobs.', {
      target_p95_latency_ms: amount('95 of 100 jobs take at most this, in ms.', 1_000),
      error_rate_budget: told(Joi.number().min(0).max(1), 'Part of the jobs that may fail.', 0.01),
      timeout_seconds: whole('Seconds.', 60),
      critical: yes('Somebody is to be woken.', false),
    }),
  ),
  scheduler: group('How jobs of a tenant are scheduled.', {
    weight: narrowest(told(Joi.number().min(1).max(100), 'Turns among the tenants that wait.', 1)),
    input_fail_mode: merged.strictest(
      failModes,
      one(failModes, 'When policy does not answer; POLICY_CHECK_FAIL_MODE when not set.'),
    ),
    output_fail_mode: merged.strictest(
      failModes,
      one(failModes, 'When output cannot be checked; the policy’s own when not set.'),
    ),
  }),
  approvals: group('Who may resolve approvals.', {
    run_starter: merged.strictest(
      ['deny', 'deny_policy_holds', 'allow'],
      one(
        runStarterRules,
        'What the starter of a run may resolve of its approvals: all, all but the steps that policy holds, or none. Steps with exclude_starter are never theirs to resolve.',
        approvals.run_starter,
      ),
    ),
  }),
  policy: wholeSection(
    group('How policy is read; read from system/default only.', {
      overrides: one(
        overrideModes,
        'Whether a workflow’s policy_override only tightens what the wider policy decides, or may also permit what no rule of it decides.',
        'tighten',
      ),
    }),
  ),
  boundary_hardening: wholeSection(
    group('Switches that the environment overrides; read from system/default only.', {
      schema_enforcement: one(['off', 'warn', 'enforce'], 'Whether schemas of topics refuse.', 'warn'),
      worker_attestation: told(
        Joi.string()
          .valid('off')
          .messages({ 'any.only': '{{#label}} must be off: this version does not attest workers' }),
        'Whether workers must show a credential; anything but off is refused until workers can be attested.',
        'off',
      ),
      worker_readiness_required: yes('Workers get jobs only once they say that they are ready.', false),
    }),
  ),
  mcp: group('The MCP server.', {
    enabled: offWins(yes('Off: its routes are not there.', false)),
    transport: narrowest(
      told(
        Joi.alternatives(Joi.valid('http', 'stdio', 'both'), Joi.array().items(Joi.valid('http', 'stdio'))),
        'http, stdio, both, or a list.',
        'http',
      ),
    ),
    policy_gate_enabled: onWins(yes('Policy decides on each tool call.', false)),
    port: narrowest(
      told(Joi.number().integer().min(0).max(65_535), 'Told to clients; nothing listens on it.', undefined),
    ),
    require_agent_identity: onWins(yes('Callers must be agents.', false)),
    tools: merged.switches(toggles('Tools, by name.')),
    resources: merged.switches(toggles('Resources, by name.')),
  }),
  observability: wholeSection(
    group('Kept for dashboards; read by nothing here.', {
      otel: group('Traces and metrics.', {
        enabled: yes('On.'),
        endpoint: word('Where to.'),
        protocol: one(['grpc', 'http'], 'How.'),
        headers: texts('Headers.'),
        resource_attributes: texts('Attributes.'),
      }),
      metrics_ui: group('Links to dashboards.', {
        base_url: word('Address.'),
        dashboards: group('Dashboards.', { system_overview: word('Name.'), workflow_performance: word('Name.') }),
      }),
    }),
  ),
  alerting: wholeSection(
    group('Kept for dashboards; read by nothing here.', {
      pager: group('Pager.', {
        enabled: yes('On.'),
        integration_key: word('Key.'),
        severity: word('Least severity.', 'critical'),
      }),
      chat: group('Chat.', {
        enabled: yes('On.'),
        webhook_url: word('Address.'),
        severity: word('Least severity.', 'error'),
      }),
    }),
  ),
};

/** How the documents of several layers combine, section by section. */
export const settingMerge: Readonly<Record<string, MergeField>> = Object.fromEntries(
  Object.entries(settingSections).map(([name, schema]) => [name, readMergeField(schema)]),
);

/** Tables of the installation, which the scheduler writes from its files and workers are not sent. */
export const installationSections = ['pools', 'timeouts', '_poolsFileHash', '_timeoutsFileHash'] as const;

/**
 * Sections that are read from one document only. Workers are sent every other section of the documents that are merged
 * for a job, known here or not, so that only these sections and those of policy documents have no effect elsewhere.
 */
export const sectionHomes: Readonly<Record<string, string>> = {
  ...Object.fromEntries(installationSections.map((name) => [name, 'system/default'])),
  policy: 'system/default',
  boundary_hardening: 'system/default',
  bundles: 'system/policy',
};

/**
 * Who acts on a setting: the platform; workers, who get effective config with each job as SVC_EFFECTIVE_CONFIG and alone know
 * what a job says to a model; or nobody, when it is checked and kept.
 */
export type SettingActor = 'platform' | 'worker' | 'nobody';

/** A path stands for all that is under it; the longest one counts. */
const actors: Readonly<Record<string, SettingActor>> = {
  safety: 'worker',
  'safety.allowed_topics': 'platform',
  'safety.denied_topics': 'platform',
  'safety.mcp': 'platform',
  'safety.mcp.policy_mode': 'nobody',
  'safety.mcp.allowed_upstreams': 'nobody',
  'safety.mcp.allow_plain_http': 'nobody',
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
  'context.redaction_policies': 'nobody',
  slo: 'nobody',
  scheduler: 'platform',
  approvals: 'platform',
  policy: 'platform',
  boundary_hardening: 'platform',
  'boundary_hardening.worker_attestation': 'nobody',
  mcp: 'nobody',
  observability: 'nobody',
  alerting: 'nobody',
};

/** Who acts on a setting such as `retry.max_retries`; undefined for one that nobody here knows. */
export function settingActor(path: string): SettingActor | undefined {
  const paths = Object.keys(actors).filter((known) => path === known || path.startsWith(`${known}.`));
  const longest = paths.sort((a, b) => b.length - a.length)[0];
  return longest === undefined ? undefined : actors[longest];
}

/** Paths at which who acts is declared. */
export const settingActorPaths: readonly string[] = Object.keys(actors);

export interface SettingFault {
  /** Such as `retry.max_retries`, `safety.denied_topics[2]`. */
  path: string;
  message: string;
}

const prefs = { abortEarly: false, convert: false, noDefaults: true, errors: { wrap: { label: false } } } as const;

/** What is wrong with the known sections of a document's data; sections that are null, to be removed, are passed over. */
export function settingFaults(data: Readonly<Record<string, unknown>>): SettingFault[] {
  return Object.entries(data).flatMap(([name, value]) => {
    const schema = Object.hasOwn(settingSections, name) ? settingSections[name] : undefined;
    if (!schema || value === null) return [];
    const { error } = schema.label(name).validate(value, prefs);
    return (error?.details ?? []).map(({ path, message }) => ({ path: pathOf([name, ...path]), message }));
  });
}

const pathOf = (parts: readonly (string | number)[]): string =>
  parts.reduce<string>((text, part) => (typeof part === 'number' ? `${text}[${part}]` : text && part ? `${text}.${part}` : text || part), ''); // prettier-ignore
