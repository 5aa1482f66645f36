import { defaultShard, shardTag } from '@svc/queues';

/**
 * Every Redis key, declared once. The builders below, the names in Lua scripts, `docs/keys.md` and the test for undeclared
 * keys derive from this table. A shard is a complete engine, and its keys begin with its tag, written `{shard}` here. The keys
 * without the tag are declared separately, by the reason for which they have none. See docs/adr/0021-shards.md.
 */
export interface KeySpec {
  /** `<name>` marks a part supplied by the caller. */
  template: string;
  type: 'hash' | 'list' | 'set' | 'zset' | 'stream' | 'string' | 'any';
  holds: string;
  kept: string;
}

type KeySpecs = Record<string, KeySpec>;

/** Records, indexes and queues of one shard. Scripts may access all of them together. */
const ofShard = {
  // jobs
  job: { template: '{shard}:job:<id>', type: 'hash', holds: 'job record, with its state history and its last 50 policy decisions', kept: 'JOB_META_TTL after its end' },
  jobsInState: { template: '{shard}:index:<tenant>:<state>', type: 'zset', holds: 'job ids of a tenant in a state, by updated_at (µs)', kept: 'pruned by the reconciler' },
  tenants: { template: '{shard}:tenants', type: 'set', holds: 'tenants that have submitted a job', kept: 'for ever' },
  trace: { template: '{shard}:trace:<id>', type: 'zset', holds: 'job ids of a trace, by created_at (µs)', kept: 'JOB_META_TTL after its last job' },
  idempotency: { template: '{shard}:idempotency:<tenant>:<key>', type: 'hash', holds: 'request hash and response of the first request with this key', kept: 'SVC_IDEMPOTENCY_TTL' },
  once: { template: '{shard}:once:<tenant>:<key>', type: 'hash', holds: 'request hash and response of the first of repeated internal submissions, such as the retry of a dead letter; clients cannot use these keys', kept: '24 h' },
  approvals: { template: '{shard}:approvals:<tenant>', type: 'zset', holds: 'job ids that have an approval, by updated_at (µs)', kept: 'pruned by the reconciler' },
  intents: { template: '{shard}:intents', type: 'zset', holds: 'job ids with unpublished bus messages, by µs', kept: 'until published' },

  endings: { template: '{shard}:endings', type: 'any', holds: 'channel, not a key: jobs and runs when they end, one per line, separated by tabs: the id, the state of a job and, while clients wait for ends, the fields of its record that readers see (JSON)', kept: 'not stored' },
  endsAwaited: { template: '{shard}:ends-awaited', type: 'string', holds: 'exists while clients wait for the ends of jobs', kept: '60 s after the last wait began' },
  changes: { template: '{shard}:changes', type: 'any', holds: 'channel, not a key: changes of jobs and runs and reports of workers (JSON), one per line, while gateways have stream clients', kept: 'not stored' },
  changesFollowed: { template: '{shard}:changes-followed', type: 'string', holds: 'exists while gateways have stream clients', kept: '60 s after the last renewal' },
  jobEvents: { template: '{shard}:job-events:<id>', type: 'stream', holds: 'progress, log lines and partial output of a job, at most 1,000 entries and 1 MiB', kept: '1 h after the last entry' },
  runEvents: { template: '{shard}:run-events:<id>', type: 'stream', holds: 'the same, of all jobs of a run', kept: '1 h after the last entry' },
  laneArrivals: { template: '{shard}:lane-arrivals', type: 'any', holds: 'channel, not a key: a lane (id and routing needs, JSON) when a new job is added to it while none waits there', kept: 'not stored' },
  policyInEffect: { template: '{shard}:policy-in-effect', type: 'string', holds: 'policy part of the newest snapshot that a process has loaded', kept: 'for ever' },

  // side effects of jobs
  effect: { template: '{shard}:effect:<id>', type: 'hash', holds: 'a side effect that a worker recorded: its key, state, intent and result', kept: 'as the last job that used it' },
  effectsOf: { template: '{shard}:effects-of:<scope>', type: 'set', holds: 'ids of the effects of a job and its retries (`job:<id>`), or of a step of a run (`run:<run>:<path>`)', kept: 'as the last job that used them' },
  effectsInState: { template: '{shard}:effects:<tenant>:<state>', type: 'zset', holds: 'ids of effects of a tenant that are or were unknown, by updated_at (µs)', kept: 'until the effect changes; of expired effects until others are added' },

  // work in flight and waiting for workers
  allInFlight: { template: '{shard}:inflight', type: 'set', holds: 'in-flight job ids of all tenants, while the license limits their number', kept: 'until they leave' },
  workerInFlight: { template: '{shard}:worker:<id>:inflight', type: 'set', holds: 'in-flight job ids of a worker', kept: 'until they leave' },
  workerEchoes: { template: '{shard}:worker:<id>:echoes', type: 'set', holds: 'boot ids of worker processes that send dispatch ids in their results', kept: 'WORKER_HEARTBEAT_TTL after the last heartbeat of such a process' },
  workerJobs: { template: '{shard}:worker:<id>:jobs', type: 'list', holds: 'last 1000 job ids dispatched to a worker, newest first', kept: 'JOB_META_TTL' },
  openPools: { template: '{shard}:open-pools', type: 'set', holds: 'pools of system/default that may get jobs, and an empty member; absent while it has no pools', kept: 'until the document changes' },
  lanes: { template: '{shard}:lanes', type: 'hash', holds: 'lane id to its routing needs (JSON), for lanes in which jobs wait', kept: 'until the lane is empty' },
  laneTurns: { template: '{shard}:lane:<lane>:<level>', type: 'zset', holds: 'tenants waiting in a lane at a priority level, by turns taken', kept: 'until empty' },
  laneJobs: { template: '{shard}:lane:<lane>:<level>:<tenant>', type: 'zset', holds: 'waiting job ids of a tenant, by created_at (ms)', kept: 'until empty' },

  laneFull: { template: '{shard}:full:<lane>:<level>', type: 'zset', holds: 'tenants of a lane at their own limit, by turns taken', kept: 'until one of their jobs ends' },
  fullLanes: { template: '{shard}:full-of:<tenant>', type: 'set', holds: 'lanes and levels in which a tenant is suspended (JSON)', kept: 'until one of its jobs ends' },

  limitHolders: { template: '{shard}:limit:holders:<kind>:<tenant>:<key>', type: 'zset', holds: 'permissions of a limit by key: for `concurrency` job ids by created_at (µs), for `rate` `<job id>:<attempt>` by start (ms), infinite before the start', kept: 'until the job ends; a start for one period' },
  limitWaiters: { template: '{shard}:limit:waiting:<kind>:<tenant>:<key>', type: 'zset', holds: 'job ids that wait for a limit by key, by created_at (µs)', kept: 'until they get a permission or end' },
  limitDebounce: { template: '{shard}:limit:debounce:<tenant>:<key>', type: 'hash', holds: 'the job that waits for the end of a debounce period, its `due` time and the time of the `first` submission (ms)', kept: 'until the period is over' },
  limitSingleton: { template: '{shard}:limit:singleton:<tenant>:<key>', type: 'string', holds: 'id of the open job of a singleton key', kept: 'until it ends' },
  limitsDue: { template: '{shard}:limit:due', type: 'zset', holds: 'limits that let a waiting job through at a time (JSON: kind, tenant, key), by that time (ms)', kept: 'until then' },
  limitsUsed: { template: '{shard}:limit:used', type: 'set', holds: 'limits by key with permissions or waiting jobs (JSON: kind, tenant, key), for the reconciler', kept: 'until they have none' },

  policyAudit: { template: '{shard}:policy:audit:<tenant>', type: 'list', holds: 'changes of policies, releases of outputs and repairs of approvals, with their authors (JSON), newest first', kept: 'the newest 500' },

  auditOutbox: { template: '{shard}:audit:outbox', type: 'stream', holds: 'changes that are not in the audit chain yet, those of one call of a script as one entry (lines, see libs/core/audit-chain)', kept: 'until they are in the chain' },

  // agents
  agent: { template: '{shard}:agent:<id>', type: 'hash', holds: 'registered agent: `document` (JSON), `tenant`, `status`, `revision`, `pools` that it names, one per line', kept: 'for ever' },
  agentsOf: { template: '{shard}:agents:<tenant>', type: 'zset', holds: 'agent ids of a tenant, by created_at (µs)', kept: 'for ever' },
  agentActivity: { template: '{shard}:agent-activity:<tenant>', type: 'hash', holds: 'agent id to the time of its newest job (µs)', kept: 'for ever' },
  agentJobs: { template: '{shard}:agent-jobs:<id>', type: 'set', holds: 'ids of the open jobs that an agent submitted or delegated', kept: 'until they end' },
  agentDay: { template: '{shard}:agent-day:<id>:<day>', type: 'hash', holds: 'number of `jobs` and `denied` calls of an agent in a day, by its number since 1970', kept: '8 d' },
  agentDenied: { template: '{shard}:agent-denied:<id>', type: 'list', holds: 'newest 50 refusals of an agent (JSON), newest first', kept: 'for ever' },
  agentRefusal: { template: '{shard}:agent-refusal:<job>', type: 'string', holds: 'marks that the refusal of a job of a run is recorded, which a repeated turn does not repeat', kept: '1 d' },
  agentsOfPool: { template: '{shard}:agents-of-pool:<pool>', type: 'set', holds: 'ids of the agents that name a pool and are not revoked', kept: 'until they no longer do' },
  agentsChanged: { template: '{shard}:agents-changed', type: 'zset', holds: 'ids of agents whose new status is not applied to their jobs and workers yet, by the time of the change (µs)', kept: 'until it is' },

  // tenants
  tenant: { template: '{shard}:tenant:<tenant>', type: 'hash', holds: 'a tenant that was created, suspended or deleted: `status`, names, reason, times (µs), progress of its deletion', kept: 'for ever' },
  knownTenants: { template: '{shard}:tenants-known', type: 'set', holds: 'tenants with such a record that are not deleted', kept: 'for ever' },
  stoppedTenants: { template: '{shard}:tenants-stopped', type: 'set', holds: 'tenants that are suspended or being deleted', kept: 'until they are not' },
  tenantsChanged: { template: '{shard}:tenants-changed', type: 'zset', holds: 'tenants whose suspension is not applied to their jobs yet, and those being deleted, by the time of the change (µs)', kept: 'until it is applied' },
  tenantsVersion: { template: '{shard}:tenants-version', type: 'string', holds: 'time of the last change of a tenant, µs', kept: 'for ever' },

  // legal holds
  heldTenants: { template: '{shard}:held-tenants', type: 'set', holds: 'tenants under a legal hold, whose records do not expire', kept: 'until the release' },
  heldExpiries: { template: '{shard}:held-expiries:<tenant>', type: 'zset', holds: 'keys of a tenant that would expire without its legal hold, by that time (ms)', kept: 'until the sweep after the release' },
  holdSweeps: { template: '{shard}:hold-sweeps', type: 'hash', holds: 'tenant to the sweep that its records need: `freeze <hold>` or `thaw`', kept: 'until it is done' },
  deadLetterKept: { template: '{shard}:dlq:kept:<id>', type: 'string', holds: 'dead letter (JSON) that was removed under a legal hold', kept: 'until the release' },

  // delegations between agents; an id of a token is never reused
  delegation: { template: '{shard}:delegation:<jti>', type: 'hash', holds: 'delegation token: its claims (`document`, JSON), `tenant`, number of `descendants` of a root, `revoked_at` and `revoked_reason`', kept: '7 d after it expired' },
  delegationChildren: { template: '{shard}:delegation-children:<jti>', type: 'set', holds: 'ids of the tokens that were delegated with a token', kept: '7 d after the last one expired' },
  delegationsOf: { template: '{shard}:delegations:<tenant>', type: 'zset', holds: 'ids of the delegation tokens of a tenant, by issue (µs)', kept: '8 d' },
  delegationsBy: { template: '{shard}:delegations-by:<agent>', type: 'zset', holds: 'ids of the tokens that an agent delegated, by issue (µs)', kept: '8 d' },
  delegationRate: { template: '{shard}:delegation-rate:<agent>:<minute>', type: 'string', holds: 'number of tokens that an agent requested in a minute', kept: '2 min' },

  // spending
  spend: { template: '{shard}:spend:<account>:<period>', type: 'hash', holds: 'micros (millionths of a dollar) that an account (`tenant:<tenant>`, `team:<tenant>:<team>`, `workflow:<tenant>:<workflow>`) has `reserved` and `spent` in a day or month, also by `center:<name>`; its `limit`, and the alerts already published', kept: '40 days after a day, 400 after a month was last used' },
  spendAlerts: { template: '{shard}:spend-alerts', type: 'list', holds: 'unpublished budget alerts (JSON), oldest first', kept: 'until published' },

  // dead letters
  deadLetter: { template: '{shard}:dlq:entry:<id>', type: 'string', holds: 'dead-letter entry (JSON)', kept: 'SVC_DLQ_ENTRY_TTL_DAYS' },
  deadLetters: { template: '{shard}:dlq:index:<tenant>', type: 'zset', holds: 'job ids with a dead letter, by created_at (µs)', kept: 'trimmed hourly' },

  // workflows and their runs. The id of a workflow may hold any character, a tenant's name no colon.
  workflow: { template: '{shard}:wf:def:<id>', type: 'hash', holds: 'workflow definition: `document` (JSON) of the newest `version`, `document:<n>` of those before', kept: 'until removed; while runs use it, until these expire' },
  workflows: { template: '{shard}:wf:defs:<tenant>', type: 'zset', holds: 'workflow ids of a tenant, by updated_at (µs)', kept: 'until removed' },
  run: { template: '{shard}:wf:run:<id>', type: 'hash', holds: 'run record: `header` (JSON), `revision`, fields for lists, whether it has a queue entry (`awake`)', kept: 'SVC_RUN_RETENTION after its end' },
  runSteps: { template: '{shard}:wf:run:steps:<id>', type: 'hash', holds: 'step path (`weigh`, `weigh[2]`) to step run (JSON), `weigh!items` to the items of a fan-out', kept: 'as the run' },
  runTimeline: { template: '{shard}:wf:run:timeline:<id>', type: 'list', holds: 'last 1000 events of a run (JSON), oldest first', kept: 'as the run' },
  runTimers: { template: '{shard}:wf:run:timers:<id>', type: 'hash', holds: 'timer of a run to when it is due (ms) and the queue entry that fires it (JSON)', kept: 'until fired, or the end of the run' },
  runEngines: { template: '{shard}:wf:engines', type: 'set', holds: 'ids of engines that listen for woken runs', kept: 'until one stops, or a message to it has no receiver' },
  runWakes: { template: '{shard}:wf:wakes:<engine>', type: 'any', holds: 'channel, not a key: a run (id, revision, unprocessed events, JSON) when it is woken, for one engine', kept: 'not stored' },
  runInbox: { template: '{shard}:wf:run:inbox:<id>', type: 'list', holds: 'unprocessed events of a run (JSON), oldest first', kept: 'until a pass is saved' },
  runIdempotency: { template: '{shard}:wf:run:idempotency:<tenant>:<workflow>:<key>', type: 'hash', holds: 'request hash and response of the first start of a workflow with this key', kept: 'SVC_IDEMPOTENCY_TTL' },
  runsInStatus: { template: '{shard}:wf:runs:status:<tenant>:<status>', type: 'zset', holds: 'run ids of a tenant in a status, by updated_at (µs)', kept: 'as the run' },
  runsOfWorkflow: { template: '{shard}:wf:runs:of:<tenant>:<workflow>', type: 'zset', holds: 'run ids of a workflow, by updated_at (µs)', kept: 'as the run' },
  runsCreated: { template: '{shard}:wf:runs:created:<tenant>:<workflow>', type: 'zset', holds: 'run ids of a workflow, by created_at (µs)', kept: 'as the run' },
  liveRuns: { template: '{shard}:wf:runs:live', type: 'zset', holds: 'run ids of all tenants that have not ended, by last save or check (µs)', kept: 'until they end' },
  liveRunsOf: { template: '{shard}:wf:runs:live:<tenant>:<workflow>', type: 'set', holds: 'run ids of a workflow that have not ended', kept: 'until they end' },
  endedRuns: { template: '{shard}:wf:runs:ended', type: 'zset', holds: 'runs that have ended (id, tenant, workflow, status as JSON), by end of retention (ms)', kept: 'until then' },

  // schedules of workflows
  schedule: { template: '{shard}:wf:schedule:<id>', type: 'hash', holds: 'schedule of a workflow: `document` (JSON), `revision`, its next `due` time (ms) and the queue entry that fires it', kept: 'until removed, with its workflow at the latest' },
  scheduleStarts: { template: '{shard}:wf:schedule:starts:<id>', type: 'zset', holds: 'due times of a schedule with a pending start (ms), by themselves', kept: 'until started or skipped' },
  schedulesOf: { template: '{shard}:wf:schedules:of:<workflow>', type: 'zset', holds: 'schedule ids of a workflow, by created_at (µs)', kept: 'until removed' },
  schedulesDue: { template: '{shard}:wf:schedules:due', type: 'zset', holds: 'ids of active schedules of all tenants, by next due time (ms)', kept: 'until paused or removed' },
  schedulesStarting: { template: '{shard}:wf:schedules:starting', type: 'zset', holds: 'schedule ids with pending starts, by last check (ms)', kept: 'until started or skipped' },
  scheduleLock: { template: '{shard}:wf:schedule:lock:<id>', type: 'string', holds: 'owner of the pending starts of a schedule', kept: '30 s' },

  // governance, derived from the audit
  decisionLog: { template: '{shard}:governance:decisions:<tenant>', type: 'stream', holds: 'policy decisions about jobs of a tenant, by time', kept: 'SVC_DECISION_LOG_TTL_SECONDS, the newest 100,000' },
  resolutionLog: { template: '{shard}:governance:resolutions:<tenant>', type: 'stream', holds: 'resolved approvals of a tenant, by time', kept: 'SVC_DECISION_LOG_TTL_SECONDS, the newest 100,000' },
  governanceMarks: { template: '{shard}:governance:marks:<tenant>', type: 'hash', holds: 'position in the source up to which each log has its entries', kept: 'as the logs' },
  ruleMatches: { template: '{shard}:governance:rules:<tenant>', type: 'zset', holds: 'rules that decided about jobs of a tenant, by the last time (ms)', kept: 'SVC_DECISION_LOG_TTL_SECONDS, the newest 10,000' },
  defaultedTopics: { template: '{shard}:governance:defaults:<tenant>', type: 'zset', holds: 'topics of a tenant with jobs that no rule decided, by the last time (ms)', kept: 'SVC_DECISION_LOG_TTL_SECONDS, the newest 10,000' },

  // evaluation datasets and their runs
  evalDataset: { template: '{shard}:evals:dataset:<id>', type: 'hash', holds: 'dataset: description (JSON), `tenant`, `name`, `version`, compressed `bytes` of its entries', kept: 'until removed' },
  evalEntries: { template: '{shard}:evals:entries:<id>', type: 'string', holds: 'entries of a dataset (JSON, gzip)', kept: 'as the dataset; SVC_EVAL_RUN_TTL_SECONDS longer if it had runs' },
  evalDatasets: { template: '{shard}:evals:datasets:<tenant>', type: 'zset', holds: 'datasets of a tenant (`<name>:<version>:<id>`), by created_at (µs)', kept: 'until removed' },
  evalVersions: { template: '{shard}:evals:versions:<tenant>', type: 'hash', holds: '`<name>:<version>` to the id of a dataset, `<name>` to its highest version', kept: 'until removed' },
  evalRun: { template: '{shard}:evals:run:<id>', type: 'hash', holds: 'run of a dataset: description (JSON), `status`, progress, summary (JSON), and until its end the policies to evaluate (JSON)', kept: 'SVC_EVAL_RUN_TTL_SECONDS' },
  evalResult: { template: '{shard}:evals:result:<id>', type: 'string', holds: 'outcomes of a run by entry (JSON, gzip)', kept: 'as the run' },
  evalRunsOf: { template: '{shard}:evals:runs-of:<dataset>', type: 'zset', holds: 'runs and comparisons of a dataset (`<kind>:<id>`), by start (µs)', kept: 'as the runs' },
  evalLock: { template: '{shard}:evals:lock:<dataset>', type: 'string', holds: 'id of the run of a dataset that is in progress', kept: 'until the run ends, at most 30 min' },
  evalStarts: { template: '{shard}:evals:starts:<kind>:<tenant>', type: 'zset', holds: 'starts of a tenant in the last hour, by time (ms), of kind `run` or `extract`', kept: '1 h' },
  evalStored: { template: '{shard}:evals:stored:<tenant>', type: 'zset', holds: '`<bytes>:<id>` of the datasets and results of a tenant, by expiry (ms)', kept: 'until they expire or are removed' },
  evalUsed: { template: '{shard}:evals:used:<tenant>', type: 'string', holds: 'sum of these bytes', kept: 'for ever' },

  memoryOwner: { template: '{shard}:mem:owner:<id>', type: 'string', holds: 'tenant of the first job or run that used a memory', kept: 'for ever, as the memory' },

  queueTurns: { template: '{shard}:turns:<priority>:<queue>', type: 'hash', holds: 'tenant to its last turn among the ready entries of a priority of a queue (by its prefix)', kept: 'until an entry is added to an empty queue' },

  // BullMQ: the prefix of all keys of a queue
  queue: { template: '{shard}:<queue>:<part>', type: 'any', holds: 'BullMQ', kept: 'as queues.config.ts says' },

} as const satisfies Record<string, KeySpec & { template: `{shard}:${string}` }>; // prettier-ignore

/**
 * The data plane: pointers are `redis://<key>`, and the contract with workers fixes the names. The data of a job is on the
 * server of its shard, and its id is part of the name, so scripts of that shard may access it.
 */
const ofData = {
  context: { template: 'ctx:<id>', type: 'string', holds: 'input document of a job', kept: 'REDIS_DATA_TTL after its end' },
  result: { template: 'res:<id>', type: 'string', holds: 'result body, written by a worker or, when its result message contained it, by the end of the job', kept: 'REDIS_DATA_TTL' },
  uploadedResult: { template: 'res:<id>:sha256:<hash>', type: 'string', holds: 'result body uploaded by a worker with its data URL', kept: 'REDIS_DATA_TTL' },
  redactedResult: { template: 'res:<id>:redacted:<hash>', type: 'string', holds: 'redacted copy of a result', kept: 'REDIS_DATA_TTL' },
  artifactMeta: { template: 'art:meta:<id>', type: 'string', holds: 'artifact metadata (JSON)', kept: 'its retention class' },
  artifact: { template: 'art:<id>', type: 'string', holds: 'artifact bytes', kept: 'its retention class' },
  messages: { template: 'mem:<id>:events', type: 'list', holds: 'last 1000 turns of a conversation (JSON), oldest first', kept: 'for ever' },
  messagesDropped: { template: 'mem:<id>:dropped', type: 'string', holds: 'number of dropped older turns', kept: 'for ever' },
  memory: { template: 'mem:<id>', type: 'any', holds: 'memory of workers', kept: 'for ever' },
} as const satisfies KeySpecs; // prettier-ignore

/**
 * Keys of a shard whose names the contract fixes for an installation with one shard. The first shard uses these names; the
 * others put their tag before them.
 */
const withFixedNames = {
  runLock: { template: 'svc:wf:run:lock:<id>', type: 'string', holds: 'owner of a run', kept: 'WORKFLOW_ENGINE_QUEUE_LOCK, renewed' },
  delayTimers: { template: 'svc:wf:delay:timers', type: 'zset', holds: '`<workflow>:<run>:<timer>`, by due time (ms)', kept: 'until fired, or the end of the run' },
} as const satisfies KeySpecs; // prettier-ignore

/**
 * Documents and leases of the installation, which exist once, on the server of the first shard. No script that changes jobs or
 * runs accesses them.
 */
const ofInstallation = {
  user: { template: 'svc:user:<id>', type: 'hash', holds: 'user: `document` (JSON) with its `hash`, hash of the `password`, second `factor` (JSON), `tenant`, `role`, `disabled`, `revision`, `lookups` that lead to it, and the `generation`, in which its sessions are valid', kept: 'for ever' },
  userLookups: { template: 'svc:users:lookups:<tenant>', type: 'hash', holds: 'what leads to a user of a tenant to its id: `name:`, `email:`, `external:` in lower case, `subject:` with the hash of an identity at a provider', kept: 'until the user changes' },
  usersOf: { template: 'svc:users:of:<tenant>', type: 'zset', holds: 'users of a tenant (username in lower case, tab, id), in this order', kept: 'for ever' },
  usersInRole: { template: 'svc:users:in-role:<role>', type: 'set', holds: 'ids of the users with a role', kept: 'until their role changes' },
  tenantAdmins: { template: 'svc:users:admins:<tenant>', type: 'set', holds: 'ids of the enabled users of a tenant with role admin', kept: 'until they change' },
  signInState: { template: 'svc:auth:state:<hash>', type: 'string', holds: 'sign-in at a provider that has begun (JSON), by the SHA-256 of its state', kept: 'until it is completed, at most SVC_OIDC_STATE_TTL or SVC_SAML_STATE_TTL' },
  providerKeys: { template: 'svc:auth:jwks:<hash>', type: 'string', holds: 'keys of an OpenID Connect provider and when they were read (JSON), by the SHA-256 of the issuer', kept: '1 h' },
  providerMessage: { template: 'svc:auth:seen:<hash>', type: 'string', holds: 'id of an assertion or logout token that was accepted, as SHA-256', kept: 'until the message expires' },
  providerSession: { template: 'svc:auth:provider-session:<hash>', type: 'string', holds: 'id of the user who signed in with a session of a provider, or as a subject of it, by the SHA-256 of issuer and that name', kept: 'session lifetime' },
  session: { template: 'session:sign-in:<hash>', type: 'hash', holds: 'sign-in session by the SHA-256 of its token: `document` (JSON), `tenant`, `owner`, `user` and `generation` for those of users, and the times `expires_at` and `seen` (ms)', kept: 'until it ends; SVC_SESSION_IDLE_TTL after its last use' },
  sessionsOf: { template: 'svc:sessions-of:<owner>', type: 'zset', holds: 'hashes of the tokens of the sessions of a user (`user:<id>`) or API key (`key:<hash>`), by their end (ms); the newest 100', kept: 'until the last one ends' },
  apiKey: { template: 'svc:auth:key:<id>', type: 'hash', holds: 'managed API key: `document` (JSON) without the secret, `tenant`, `digest` (SHA-256 of the secret), `uses`, `last_used` (ms), `revoked_at`', kept: '30 d after it is revoked' },
  apiKeyDigests: { template: 'svc:auth:key-digests', type: 'hash', holds: 'SHA-256 of the secret of each managed API key to its id', kept: 'until the key is revoked' },
  apiKeysOf: { template: 'svc:auth:keys-of:<tenant>', type: 'zset', holds: 'ids of the managed API keys of a tenant, by creation time (µs)', kept: 'until they are revoked' },
  apiKeysVersion: { template: 'svc:auth:keys-version', type: 'string', holds: 'number of changes of managed API keys', kept: 'for ever' },
  apiKeyChanges: { template: 'svc:auth:key-changes', type: 'zset', holds: '`<id>:<digest>` of managed API keys by the number of their last change; `:` = any of them, because a user was disabled or enabled', kept: 'the newest 1,000' },
  roles: { template: 'svc:auth:roles', type: 'hash', holds: 'role (JSON) by name', kept: 'until it is deleted' },
  rolesVersion: { template: 'svc:auth:roles-version', type: 'string', holds: 'number of changes of roles', kept: 'for ever' },
  scimGroup: { template: 'svc:scim:group:<id>', type: 'hash', holds: 'SCIM group: `document` (JSON) with its members, its `hash`, `revision` and `name` in lower case', kept: 'until removed' },
  scimGroups: { template: 'svc:scim:groups', type: 'hash', holds: 'name of a SCIM group in lower case to its id', kept: 'until removed' },
  scimGroupsWith: { template: 'svc:scim:groups-with:<user>', type: 'set', holds: 'ids of the SCIM groups that have a user as a member', kept: 'until the user leaves' },
  scimRoleChanges: { template: 'svc:scim:role-changes', type: 'hash', holds: 'id of a user whose SCIM groups changed to the number of changes, until the role is as the groups want it', kept: 'until applied' },
  scimToken: { template: 'svc:scim:token', type: 'hash', holds: 'SCIM token: SHA-256 `digest`, `mask`, `revision`, and the `previous` digest with the time until which it is valid (`previous_until`, ms)', kept: 'until replaced' },
  rateLimit: { template: 'svc:rl:<bucket>', type: 'any', holds: 'rate limiter', kept: 'its window' },
  workerSnapshot: { template: 'sys:workers:snapshot', type: 'string', holds: 'snapshot of all live workers (JSON)', kept: 'for ever' },
  liveWorkers: { template: 'svc:workers:count', type: 'zset', holds: 'ids of live workers for the license limit, by last heartbeat (ms)', kept: '2 min' },
  workerCredentials: { template: 'svc:workers:credentials', type: 'hash', holds: 'worker id to its credential (JSON) without the token', kept: 'for ever' },
  workerCredentialHashes: { template: 'svc:workers:credentials:hashes', type: 'hash', holds: 'worker id to the SHA-256 of its credential, for the audit', kept: 'for ever' },
  workerTokens: { template: 'svc:workers:tokens', type: 'hash', holds: 'worker id to the first 32 bits of the SHA-256 of its token, its argon2id hash, its bcrypt hash for NATS, and its SHA-256 for Redis, separated by spaces', kept: 'until the token is replaced' },
  workerCredentialsRevoked: { template: 'svc:workers:credentials:revoked', type: 'hash', holds: 'worker id to the time its credential was revoked', kept: 'until the credential is replaced' },
  workerCredentialsActive: { template: 'svc:workers:credentials:active', type: 'set', holds: 'ids of the workers with a credential that is not revoked', kept: 'until it is revoked' },
  workerCredentialsOf: { template: 'svc:workers:credentials:of:<tenant>', type: 'set', holds: 'ids of the workers with a credential of a tenant', kept: 'for ever' },
  workerTokensVerified: { template: 'svc:workers:verified', type: 'hash', holds: 'worker id to a part of its credential hash and the SHA-256 of the token that was verified against it', kept: 'until the credential is replaced or revoked' },
  workerTrustVersion: { template: 'svc:workers:trust:version', type: 'string', holds: 'number of changes of worker credentials and sessions', kept: 'for ever' },
  workerTrustChanges: { template: 'svc:workers:trust:changes', type: 'zset', holds: 'worker ids by the number of their last change', kept: 'for ever' },
  workerSessions: { template: 'svc:workers:sessions', type: 'hash', holds: 'worker id to its session (JSON): id of the token, of the previous one, and when they end', kept: 'until the next session' },
  handshakeChallenge: { template: 'session:challenge:<worker>', type: 'string', holds: 'the open challenge of a worker, which it may answer once: its id, a space, and the challenge', kept: '60 s' },
  handshakeNonces: { template: 'session:challenge-nonces:<worker>', type: 'zset', holds: 'nonces of the requests for which a worker got a challenge, by time (ms)', kept: '2 min' },
  handshakeRate: { template: 'session:challenge-rate', type: 'string', holds: 'number of challenges in this second, of all workers', kept: '1 s' },
  packetsSeen: { template: 'svc:workers:packets:<worker>', type: 'zset', holds: 'signed progress reports of a worker that were received: part of the signature, by the time of the packet (ms); the newest 2048', kept: '10 min after the last one' },
  installation: { template: 'svc:installation', type: 'hash', holds: 'id and creation time of this installation, and an alarm while data loss is suspected', kept: 'for ever' },
  licenseVersion: { template: 'svc:license:version', type: 'string', holds: 'number of requests to read the license again', kept: 'for ever' },
  telemetry: { template: 'svc:telemetry', type: 'hash', holds: 'chosen telemetry mode (`consent`), the last snapshot (JSON), when it was taken and sent (ms), random id of the installation', kept: 'for ever' },
  telemetryLease: { template: 'svc:telemetry:lease', type: 'string', holds: 'owner of the loop that takes telemetry snapshots', kept: '60 s' },
  tenantEraserLease: { template: 'svc:tenants:eraser', type: 'string', holds: 'owner of the loop that deletes tenants', kept: '30 s' },
  instance: { template: 'svc:instance:<service>:<id>', type: 'string', holds: 'a running service process (JSON)', kept: '15 s' },
  reconcilerLease: { template: 'svc:reconciler:<name>', type: 'string', holds: 'owner of the reconciler loop', kept: '2 × period' },
  replayerLease: { template: 'svc:replayer:<name>', type: 'string', holds: 'owner of the replayer loop', kept: '2 × period' },
  snapshotLease: { template: 'svc:scheduler:snapshot:<name>', type: 'string', holds: 'owner of the worker snapshot', kept: '10 s' },
  poolDrainLease: { template: 'svc:scheduler:pool-drain', type: 'string', holds: 'owner of the loop that ends drains of pools', kept: '20 s' },
  dlqCleanupLease: { template: 'svc:dlq:cleanup', type: 'string', holds: 'owner of the dead-letter clean-up', kept: '5 min' },
  spendAlertsLease: { template: 'svc:scheduler:spend-alerts', type: 'string', holds: 'owner of the loop that publishes budget alerts', kept: '10 s' },
  timerPollerLease: { template: 'svc:wf:delay:poller', type: 'string', holds: 'owner of the loop that fires due timers', kept: '3 × period' },
  runReconcilerLease: { template: 'svc:workflow-engine:reconciler:<shard>', type: 'string', holds: 'owner of a loop over runs', kept: '2 × period' },
  breaker: { template: 'svc:cb:<name>', type: 'hash', holds: 'circuit breaker', kept: '5 min after its last change' },
  velocity: { template: 'svc:velocity:<rule>:<hash>', type: 'zset', holds: 'requests in a velocity window', kept: 'two windows + 60 s' },
  velocityWindows: { template: 'svc:velocity-windows:<rule>', type: 'zset', holds: 'hashes of the windows of a velocity rule with requests, by expiry (ms); the newest 10000', kept: 'two windows + 60 s' },
  velocityThrottled: { template: 'svc:velocity-throttled:<tenant>:<hour>', type: 'hash', holds: 'submissions of a tenant (`*`: of all) that a rule throttled in an hour: `count:<minute>:<rule>`, and `last:<rule>` (ms)', kept: '26 h' },
  policySnapshots: { template: 'svc:safety:snapshots', type: 'list', holds: '10 newest policy snapshots', kept: 'for ever' },
  bundleSnapshots: { template: 'svc:policy:snapshots', type: 'zset', holds: 'ids of snapshots of the policy bundles, by creation time (µs)', kept: 'the newest 10, and those used by a rollback of the last 24 h' },
  bundleSnapshotHeads: { template: 'svc:policy:snapshots:heads', type: 'hash', holds: 'creation time and note of each snapshot (JSON)', kept: 'with the snapshot' },
  bundleSnapshotBodies: { template: 'svc:policy:snapshots:bodies', type: 'hash', holds: 'bundles of each snapshot (JSON)', kept: 'with the snapshot' },
  bundleSnapshotHolds: { template: 'svc:policy:snapshots:holds', type: 'zset', holds: 'ids of snapshots used by a rollback, by expiry of the hold (ms)', kept: '24 h' },
  earlierPolicyAudit: { template: 'svc:policy:audit:<tenant>', type: 'list', holds: 'entries of the policy audit (JSON) written by versions whose audit had no tag; only read', kept: 'for ever' },
  policyAuditCalls: { template: 'svc:policy:audit-calls:<tenant>', type: 'list', holds: 'calls of evaluate, simulate and explain (JSON), newest first', kept: 'the newest 500' },
  auditChain: { template: 'audit:chain:<tenant>', type: 'stream', holds: 'audit events of a tenant: canonical JSON `e`, its SHA-256 `h` and HMAC `m`; the second part of an id is the sequence number', kept: 'SVC_AUDIT_RETENTION_HOURS, longer under a legal hold' },
  auditHead: { template: 'audit:chain:head:<tenant>', type: 'string', holds: '`<seq>:<event_hash>` of the newest audit event', kept: 'for ever' },
  auditState: { template: 'svc:audit:state:<tenant>', type: 'hash', holds: 'newest outbox entry of each shard that is in the chain (`applied:<shard>`), time of the newest event (`last_ms`), and where retention cut the chain (`boundary_seq`, `boundary_hash`)', kept: 'for ever' },
  auditLeaves: { template: 'svc:audit:leaves:<tenant>:<tile>', type: 'string', holds: 'hashes of up to 1,024 audit events, 32 bytes each, the leaves of the Merkle tree', kept: 'for ever' },
  auditTiles: { template: 'svc:audit:tiles:<tenant>', type: 'string', holds: 'roots of the complete tiles of 1,024 leaves, 32 bytes each', kept: 'for ever' },
  auditCheckpoints: { template: 'svc:audit:checkpoints:<tenant>', type: 'zset', holds: 'signed checkpoints (JSON) by sequence number', kept: 'the newest 10,000' },
  auditTenants: { template: 'svc:audit:tenants', type: 'set', holds: 'tenants with audit events', kept: 'for ever' },
  auditCheckpointLease: { template: 'svc:audit:checkpoint', type: 'string', holds: 'owner of the loop that signs checkpoints of the audit chains', kept: '2 × SVC_AUDIT_ANCHOR_INTERVAL' },
  legalHolds: { template: 'svc:legal-holds', type: 'hash', holds: 'legal holds (JSON) by id', kept: 'for ever' },
  legalHoldsActive: { template: 'svc:legal-holds:active', type: 'hash', holds: 'tenant to the id of its active legal hold', kept: 'until it is released' },
  legalHoldsOf: { template: 'svc:legal-holds:of:<tenant>', type: 'zset', holds: 'ids of the legal holds of a tenant, by creation time (µs)', kept: 'for ever' },
  legalHoldsOfAll: { template: 'svc:legal-holds:all', type: 'zset', holds: 'ids of all legal holds, by creation time (µs)', kept: 'for ever' },
  auditAnchorLease: { template: 'svc:audit:anchors:<kind>', type: 'string', holds: 'owner of the loop that publishes checkpoints to a receiver', kept: '2 × SVC_AUDIT_ANCHOR_INTERVAL' },
  auditAnchored: { template: 'svc:audit:anchored:<kind>', type: 'hash', holds: 'tenant to the sequence number of its newest checkpoint that was published to this kind of receiver', kept: 'for ever' },
  auditTimestamps: { template: 'svc:audit:timestamps:<tenant>', type: 'zset', holds: 'time-stamp tokens of checkpoints (JSON), by sequence number', kept: 'the newest 10,000' },
  holdSweepLease: { template: 'svc:legal-holds:sweep', type: 'string', holds: 'owner of the loop that keeps records under legal holds', kept: '60 s, renewed' },
  auditRetentionLease: { template: 'svc:audit:retention', type: 'string', holds: 'owner of the loop that removes expired audit events', kept: '2 h' },
  auditExporterLease: { template: 'svc:audit:exporter', type: 'string', holds: 'owner of the loop that exports audit events', kept: '60 s, renewed' },
  auditExportCursors: { template: 'svc:audit:export:cursors:<exporter>', type: 'hash', holds: 'tenant to the stream id of its newest audit event that this kind of exporter has delivered', kept: 'for ever' },
  auditExportState: { template: 'svc:audit:export:state:<exporter>', type: 'hash', holds: 'time of the newest delivery (`last_success_at`), the error of the newest attempt (`last_error`), number of events not delivered (`pending`)', kept: 'for ever' },
  auditExportDead: { template: 'svc:audit:export:dead:<exporter>', type: 'stream', holds: 'audit events that the receiver refused: tenant, id, reason, and the event', kept: 'the newest 10,000' },
  decisionLogLease: { template: 'svc:governance:follower', type: 'string', holds: 'owner of the loop that derives the decision logs from the audit chains', kept: '10 s, renewed' },
  auditSealerLease: { template: 'svc:audit:sealer', type: 'string', holds: 'owner of the loop that appends to the audit chains', kept: '5 s, renewed' },
  shadowTenants: { template: 'svc:policy:shadow-tenants', type: 'set', holds: 'tenants that have shadow policies', kept: 'until their last one ends' },
  shadows: { template: 'svc:policy:shadows:<tenant>', type: 'hash', holds: 'bundle id to the shadow policy of a tenant (JSON), without its text', kept: 'until it ends' },
  shadowContents: { template: 'svc:policy:shadows:content:<tenant>', type: 'hash', holds: 'bundle id to the text of that shadow policy', kept: 'until it ends' },
  shadowResults: { template: 'svc:policy:shadow-results:<tenant>:<bundle>', type: 'stream', holds: 'decisions of shadow policies of a bundle on jobs of a tenant', kept: '30 d, of all bundles of a tenant the newest 100,000' },
  shadowResultsOf: { template: 'svc:policy:shadow-results-of:<tenant>', type: 'zset', holds: 'bundle ids with shadow results, by the latest result (ms)', kept: '30 d after the last one' },
  actionClaim: { template: 'svc:actiongate:claim:<ref>', type: 'string', holds: 'hash of the action that an approval was used for', kept: '48 h' },
  config: { template: 'cfg:<scope>:<id>', type: 'string', holds: 'config document (JSON)', kept: 'for ever' },
  configRevisions: { template: 'svc:cfg:revisions', type: 'hash', holds: 'revision of each config document, by `<scope>:<id>`', kept: 'for ever' },
  configHistory: { template: 'svc:cfg:history:<scope>:<id>', type: 'list', holds: 'last 20 revisions of a config document (JSON), newest first; fewer when it is over 1.6 MiB', kept: 'for ever' },
  configsOf: { template: 'svc:cfg:of:<tenant>', type: 'set', holds: '`<scope>:<id>` of the team, workflow and step documents that a tenant wrote', kept: 'for ever' },
  lock: { template: 'svc:lock:<tenant>:<resource>', type: 'hash', holds: '`mode` and `updated_at` (µs) of a lock, and for each owner `o:<owner>` its count, fencing token and expiry (ms)', kept: 'until released or expired' },
  lockTokens: { template: 'svc:lock-tokens', type: 'string', holds: 'newest fencing token of all locks', kept: 'for ever' },
  schema: { template: 'schema:<id>', type: 'hash', holds: 'registered JSON Schema (`document`, JSON), its `$id` and the `tenant` that owns it, absent for the installation', kept: 'for ever' },
  schemas: { template: 'schema:index', type: 'zset', holds: 'ids of the schemas of the installation, by write time (µs)', kept: 'for ever' },
  schemaAliases: { template: 'schema:aliases', type: 'hash', holds: '`$id` of a schema of the installation to the id it is registered under', kept: 'for ever' },
  tenantSchemas: { template: 'svc:schemas:tenants', type: 'zset', holds: 'ids of the schemas of all tenants, by write time (µs)', kept: 'for ever' },
  schemasOf: { template: 'svc:schemas:of:<tenant>', type: 'zset', holds: 'ids of the schemas of a tenant, by write time (µs)', kept: 'for ever' },
  schemaAliasesOf: { template: 'svc:schemas:aliases:<tenant>', type: 'hash', holds: '`$id` of a schema of a tenant to the id it is registered under', kept: 'for ever' },
} as const satisfies KeySpecs; // prettier-ignore

const tables = { ...ofShard, ...ofData, ...withFixedNames, ...ofInstallation };
type Tables = typeof tables;
export type KeyName = keyof Tables;

/** Where a key belongs. */
export type KeyGroup = 'shard' | 'data' | 'fixed name' | 'installation';

const getGroup = (name: string): KeyGroup => {
  if (name in ofShard) return 'shard';
  if (name in ofData) return 'data';
  return name in withFixedNames ? 'fixed name' : 'installation';
};

const rows = Object.entries(tables) as [KeyName, KeySpec][];

function templateIn(shard: string, name: KeyName): string {
  const { template }: KeySpec = tables[name];
  const tag = shardTag(shard);
  if (getGroup(name) === 'fixed name' && shard !== defaultShard) return `${tag}:${template}`;
  return template.replace('{shard}', tag);
}

/** The table, with the names of the first shard. */
export const keyTable = Object.fromEntries(
  rows.map(([name, spec]) => [name, { ...spec, template: templateIn(defaultShard, name), group: getGroup(name) }]),
) as Readonly<Record<KeyName, KeySpec & { group: KeyGroup }>>;

type Parts<T extends string> = T extends `${string}<${string}>${infer Rest}` ? [part: string, ...Parts<Rest>] : [];
/** Builders of keys: `keys.job(id)`. Parts may contain any character, because keys are never parsed. */
export type Keys = { readonly [Name in KeyName]: (...parts: Parts<Tables[Name]['template']>) => string };

const pieces = (template: string) => template.split(/<\w+>/);

/** The builders of a shard's keys. */
export const buildKeys = (shard: string): Keys =>
  Object.fromEntries(
    rows.map(([name]) => {
      const [head = '', ...tails] = pieces(templateIn(shard, name));
      return [name, (...parts: string[]) => tails.reduce((key, tail, i) => key + (parts[i] ?? '') + tail, head)];
    }),
  ) as unknown as Keys;

/** The builders of the first shard. */
export const keys: Keys = buildKeys(defaultShard);

/** The builders for scripts of a shard: `key.job(id)` in Lua. */
export const luaKeys = (shard: string): string => {
  const builders = rows.map(([name]) => {
    const tails = pieces(templateIn(shard, name));
    const names = tails.slice(1).map((_, i) => `p${i + 1}`);
    const body = tails.map((text, i) => (i === 0 ? `'${text}'` : `p${i} .. '${text}'`)).join(' .. ');
    return `  ${name} = function(${names.join(', ')}) return ${body} end,`;
  });
  return `local key = {\n${builders.join('\n')}\n}\n`;
};

/** The table entry of a key, for the test for undeclared keys; the most specific template wins. */
export function findKeyName(key: string, shard = defaultShard): KeyName | undefined {
  const patterns = rows.map(([name]) => {
    const pattern = pieces(templateIn(shard, name)).map((text) => text.replace(/[{}]/g, '\\$&'));
    return { name, literal: pattern.join('').length, matches: new RegExp(`^${pattern.join('.+')}$`) };
  });
  return patterns.filter(({ matches }) => matches.test(key)).sort((a, b) => b.literal - a.literal)[0]?.name;
}

/**
 * Patterns of the keys and channels that a process of one shard may access, as rules of a Redis user. Redis then rejects a call
 * that touches another shard. The keys of the installation are on the server of the first shard.
 */
export function shardAccessRules(shard: string): string[] {
  const untagged = rows.filter(
    ([name]) => getGroup(name) === 'data' || (shard === defaultShard && getGroup(name) !== 'shard'),
  );
  const patterns = untagged.map(([name]) => `~${pieces(templateIn(shard, name)).join('*')}`);
  return [`~${shardTag(shard)}:*`, ...new Set(patterns), `&${shardTag(shard)}:*`];
}
