import { subjects } from '@svc/contract';
import { dataTokensFrom, grantSignerFrom, resultTicketsFrom } from '@svc/identity';
import type { Kernel } from '@svc/kernel-client';
import type { JobEndings, ResultJob } from '@svc/store';
import {
  randomIds,
  type ApiEnv,
  type approvalMetrics,
  type Boot,
  type dispatchMetrics,
  type gatewayMetrics,
  type kernelMetrics,
  type OpenMetrics,
} from '@svc/runtime';
import { cancelOpenJob, publishCancelled, RecentJobs } from '@svc/jobs';
import { ActionClaimRepository, auditPolicyCall, openResolver, openShadows, ShadowSummaries } from '@svc/policy-lab';
import { openPlacement, type WorkerRegistry } from '@svc/dispatch';
import { applySuspensionSoon } from '@svc/tenants';
import { ChatRepository, DefinitionCache, removeWorkflow } from '@svc/workflows';
import { EffectiveConfig } from '@svc/settings';
import { type Audit, type AuditExport, verifier, verifyNewest } from '@svc/audit';
import { openTopics, removeTopicsOf, topicLog } from '@svc/registry';
import { WorkerTrustRepository } from '@svc/worker-trust';
import { jobBus, licenseLimits, type Platform, type StoredFleet } from '@svc/platform';
import type { ApiContext } from './context';
import type { Access } from './open-access';
import type { Streams } from './streams/open-streams';
import { gateRules } from '@svc/access';
import { agentDeps, agentLookups } from './agent-deps';
import { evalDeps, governanceDeps } from './governance-deps';
import type { CredentialNotices } from './open-credential-notices';
import { openAdmission } from './open-admission';
import { openScim } from './open-scim';
import { policyDocumentDeps } from './policy-document-deps';
import type { GatewayIdentity } from './open-identity';
import { telemetryDeps } from './telemetry-deps';
import { ssoDeps } from './sso-deps';
import { statusDeps, type StatusParts } from './status-deps';
import { userDeps } from './user-deps';

export interface ContextParts {
  access: Access;
  audit: Audit;
  auditExport: AuditExport;
  policyFindings: StatusParts['policyFindings'];
  endings: JobEndings;
  streams: Streams;
  platform: Platform;
  fleet: StoredFleet;
  registry: WorkerRegistry;
  kernel: Kernel;
  identity: GatewayIdentity;
  notices: CredentialNotices;
  metrics: OpenMetrics<
    typeof gatewayMetrics & typeof dispatchMetrics & typeof approvalMetrics & typeof kernelMetrics
  >['metrics'];
}

/** Time limit of an expression of a first turn, ms. The turn of a more expensive one is taken by an engine. */
const MAX_EXPRESSION_MS = 1;

/** Time for engines to end the runs of a tenant that is deleted. */
const RUN_END_MS = 30_000;

/** Builds the dependencies of all handlers. */
export function buildContext(boot: Boot<ApiEnv>, parts: ContextParts): ApiContext {
  const { env, clock, health, log } = boot;
  const { platform, fleet, registry, kernel, policyFindings, metrics, endings, streams, audit, auditExport, access } =
    parts;
  const { store, bus, license, senderId } = platform;
  const base = { store, clock, random: { ...randomIds(), number: () => Math.random() } };
  const deadLetterTtlSec = env.dlqEntryTtlDays * 86_400;
  const onPublishFailed = (jobId: string, error: unknown) =>
    log.warn('publish failed; the replayer will retry', { job_id: jobId, error });
  const failOpen = { total: 0 };
  const config = new EffectiveConfig(store, clock);
  const events = topicLog(log);
  const topics = openTopics({ store, clock, fleet, config, events, enforcement: env.schemaEnforcement });
  const onNoticeFailed = (error: unknown) => log.warn('change notice not published', { error });
  const changes = { ...base, fleet, config, bus: jobBus(bus), senderId, onNoticeFailed };
  const cancel = { ...base, bus: jobBus(bus), senderId, onPublishFailed };
  const agents = agentDeps(boot, { changes, cancel, gate: gateRules({ license, ...access }) });
  const admission = openAdmission(boot, store.load, metrics);
  const policyDocuments = { ...changes, ...policyDocumentDeps(env, license) };
  const chainState = async (tenant: string) => {
    const { status } = await verifyNewest({ store, sealer: audit.sealer, ...audit.verification }, tenant);
    return status;
  };
  const governance = { ...policyDocuments, ...base, topics, ...governanceDeps(env, { store, metrics, chainState }) };
  const shadows = openShadows(boot, {
    store,
    kernel,
    metrics,
    onConfigChanged: (run) => void bus.subscribe(subjects.configChanged, run),
  });
  const dataTokens = dataTokensFrom(env);
  const artifacts = {
    ...base,
    admission,
    maxLicensedBytes: () => license.entitlements().max_artifact_bytes,
    settings: {
      artifactMaxBytes: env.artifactMaxBytes,
      artifactTtlSec: {
        short: env.artifactTtlShortMs / 1_000,
        standard: env.artifactTtlStandardMs / 1_000,
        audit: env.artifactTtlAuditMs / 1_000,
      },
    },
  };
  const grants = grantSignerFrom(env);
  const placement = openPlacement(
    boot,
    {
      isEnabled: env.dispatchAtSubmission,
      isReadinessRequired: env.workerReadinessRequired,
      dataTokens,
      dataUrlBase: env.dataUrlBase,
      tickets: resultTicketsFrom<ResultJob>(env),
      grants,
    },
    { ...base, platform, fleet, registry, config, endings, metrics },
  );
  const definitions = new DefinitionCache(store, clock);
  const jobParts = { ...base, config, admission, kernel, shadows, topics, placement };
  const recent = new RecentJobs(clock);
  endings.follow(({ id, read }) => recent.end(id, read));
  endings.followGaps(() => recent.clear());
  const users = userDeps(env, { ...base, ...parts });
  return {
    access: {
      ...{ ...base, ...access, license, defaultTenant: env.defaultTenant },
    },
    audit: auditDeps(env, { ...base, audit }),
    evidence: {
      ...base,
      audit,
      defaultTenant: env.defaultTenant,
    },
    auditExports: { ...auditExport.exports, store },
    auditExporter: auditExport.exporter,
    legalHolds: { ...base, defaultTenant: env.defaultTenant },
    submit: {
      ...jobParts,
      agents: agents.jobs,
      recent,
      license: licenseLimits(license),
      settings: {
        policyFailMode: env.policyCheckFailMode,
        idempotencyTtlSec: Math.ceil(env.idempotencyTtlMs / 1_000),
        approvalTtlMs: env.approvalTtlMs,
        deadLetterTtlSec,
        defaultDeadline: env.defaultDeadline,
      },
      onCancelled: (ids) =>
        void publishCancelled(
          {
            ...base,
            bus: jobBus(bus),
            senderId,
            onPublishFailed,
            onCancelledByLimit: (limit) => metrics.cancelledByLimits.inc({ limit }),
          },
          ids,
        ),
      onFailOpen: (topic) => {
        failOpen.total += 1;
        log.warn('job accepted without a policy decision (fail open)', { topic });
      },
    },
    reads: { store, endings, recent },
    cancel,
    agents: agents.registry,
    explain: {
      ...base,
      fleet,
      registry,
      config,
      topics,
      kernel,
      definitions,
      license: licenseLimits(license),
      settings: {
        policyFailMode: env.policyCheckFailMode,
        approvalTtlMs: env.approvalTtlMs,
        readinessRequired: env.workerReadinessRequired,
        workerTtlMs: env.workerHeartbeatTtlMs,
      },
    },
    resubmit: { ...base, kernel, config, admission, agents: agents.jobs },
    approvals: {
      ...base,
      config,
      kernel,
      bus: jobBus(bus),
      senderId,
      settings: { deadLetterTtlSec },
      onPublishFailed,
      onResolved: (verdict, waitedMs) => {
        metrics.approvalDecisions.inc({ decision: verdict === 'approved' ? 'approve' : 'reject' });
        if (waitedMs !== undefined) metrics.approvalSeconds.observe(waitedMs / 1_000);
      },
    },
    artifacts,
    dataUrls: {
      artifacts,
      tokens: dataTokens,
      maxBytes: Math.max(env.artifactMaxBytes, env.maxJobPayloadBytes),
      events: { effectReported: (op, outcome) => metrics.effects.inc({ op, outcome }) },
    },
    policyEvaluate: {
      ...base,
      ...agentLookups(store),
      config,
      topics,
      kernel,
      settings: { redact: env.policyEvaluateRedact },
      maxContentBytes: env.policyMaxBytes,
      defaultTenant: env.defaultTenant,
      actionClaims: new ActionClaimRepository(store.redis),
      resolve: openResolver(() => clock.nowMs()),
      onCall: async (call) =>
        auditPolicyCall(base, call).catch((error: unknown) =>
          log.warn('audit entry of a policy call not stored', { action: call.action, error }),
        ),
    },
    policyDocuments,
    policyShadows: { ...policyDocuments, store, summaries: new ShadowSummaries(store, clock) },
    fleet: { store, clock, fleet, workerTtlMs: env.workerHeartbeatTtlMs, defaultTenant: env.defaultTenant },
    pools: { ...changes, workerTtlMs: env.workerHeartbeatTtlMs, defaultTenant: env.defaultTenant },
    workerTrust: {
      ...changes,
      topics,
      grants,
      trust: new WorkerTrustRepository(store.redis),
      hasSessions: env.sdkHandshake !== 'off' && (env.packetSigningKey ?? env.packetSigningKeyPath) !== undefined,
      defaultTenant: env.defaultTenant,
      license: licenseLimits(license),
    },
    topics: { ...changes, topics, workerTtlMs: env.workerHeartbeatTtlMs, defaultTenant: env.defaultTenant },
    schemas: {
      ...changes,
      defaultTenant: env.defaultTenant,
      maxSchemas: () => license.entitlements().max_schema_count,
    },
    config: {
      ...changes,
      defaultTenant: env.defaultTenant,
      rbac: () => license.entitlements().rbac,
      policy: policyDocuments,
      strictPools: env.production,
    },
    budgets: { store, clock, config },
    workflows: {
      ...base,
      policy: policyDocuments,
      maxSteps: () => license.entitlements().max_workflow_steps,
      keepSec: Math.ceil(env.runRetentionMs / 1_000),
    },
    runs: {
      ...base,
      chat: new ChatRepository(store.redis),
      agents: agents.jobs,
      endings,
      config,
      topics,
      admission,
      kernel,
      definitions,
      firstTurn: placement && {
        ...jobParts,
        fleet,
        schemas: topics.schemas,
        settings: {
          maxItems: env.foreachMaxItems,
          expressions: {
            maxLength: env.exprMaxLength,
            maxResultItems: env.exprMaxResultItems,
            timeoutMs: Math.min(env.exprTimeoutMs, MAX_EXPRESSION_MS),
          },
          approvalTtlMs: env.approvalTtlMs,
          deadLetterTtlSec,
        },
      },
      settings: { idempotencyTtlSec: Math.ceil(env.idempotencyTtlMs / 1_000) },
      maxActiveRuns: () => license.entitlements().max_active_workflows,
    },
    schedules: { ...base, agents: agents.jobs },
    events: { store, ...streams },
    governance,
    evals: {
      ...base,
      admission,
      config,
      topics,
      kernel,
      maxContentBytes: env.policyMaxBytes,
      defaultTenant: env.defaultTenant,
      agents: agentLookups(store).agents,
      decisionLog: governance.decisionLog,
      ...evalDeps(env, { store, metrics }),
    },
    locks: { store, defaultTenant: env.defaultTenant },
    users,
    sso: ssoDeps(boot, { ...parts, users, changes }),
    effects: {
      ...{ ...base, kernel, config, admission, agents: agents.jobs },
      events: { effectSettled: (outcome) => metrics.effects.inc({ op: 'settle', outcome }) },
    },
    license: {
      ...base,
      license,
      defaultTenant: env.defaultTenant,
      settings: {
        requestsPerSecond: env.rateLimitRps,
        bodyBytes: env.maxJsonBodyBytes,
        artifactBytes: env.artifactMaxBytes,
      },
    },
    telemetry: telemetryDeps(boot, { ...base, license, isOidc: parts.identity.providers.oidc !== undefined }),
    tenantErasure: {
      store,
      clock,
      trust: new WorkerTrustRepository(store.redis),
      defaultTenant: env.defaultTenant,
      runEndMs: RUN_END_MS,
      cancelJob: (id, reason) => cancelOpenJob(cancel, id, reason),
      removeWorkflow: (caller, id) =>
        removeWorkflow({ store, policy: policyDocuments, keepSec: Math.ceil(env.runRetentionMs / 1_000) }, caller, id),
      removeTopics: (tenant) => removeTopicsOf(changes, tenant),
    },
    tenants: {
      store,
      license,
      defaultTenant: env.defaultTenant,
      statusChanged: (tenant) =>
        applySuspensionSoon(
          {
            store,
            cancelJob: (id, reason) => cancelOpenJob(cancel, id, reason),
            onStopFailed: (stopped, error) =>
              log.warn('stopping a tenant failed; the scheduler completes it', { tenant: stopped, error }),
          },
          tenant,
        ),
    },
    scim: openScim(boot, { ...base, license, access, notices: parts.notices }),
    status: statusDeps(boot, {
      ...{ platform, kernel, policyFindings, failOpenTotal: () => failOpen.total },
      activeStreams: () => streams.limits.count,
    }),
    health,
  };
}

/** Reads of the audit chains seal first, so that they contain everything recorded before. */
function auditDeps(
  { auditReadSampleRate }: Pick<ApiEnv, 'auditReadSampleRate'>,
  { audit, ...base }: Pick<Platform, 'store'> & { random: { number(): number }; audit: Audit },
): ApiContext['audit'] {
  const { sealer, checkpointNow, publicKey, verification } = audit;
  return {
    ...base,
    sealer,
    checkpointNow,
    publicKey,
    readSampleRate: auditReadSampleRate,
    verify: verifier({ ...base, sealer, ...verification }),
  };
}
