import { atLeast, atMost, ratioAtLeast, ratioAtMost, rawLimit, type Measure } from './measure';
import { agentStop } from './measures/agents';
import { auditAppend, auditCpu, auditExport, auditVerify } from './measures/audit';
import { authOverhead } from './measures/auth-overhead';
import { costed, cpuPerJob } from './measures/cpu';
import { drain } from './measures/drain';
import { drain100k } from './measures/drain-100k';
import { drainEverysec } from './measures/drain-everysec';
import { fairness } from './measures/fairness';
import { attestedHeartbeats } from './measures/heartbeats';
import { publishVisible, velocityRate } from './measures/kernels';
import { policyP99 } from './measures/policy';
import { policyGrpc } from './measures/policy-grpc';
import { detail, list } from './measures/reads';
import { redisCalls, redisCallsAlone } from './measures/redis-calls';
import { redisCommands } from './measures/redis-commands';
import { roundTrip1, roundTrip64, roundTrip64Foreign, roundTripMessages } from './measures/round-trip';
import { rssAfter, rssAtRest } from './measures/rss';
import {
  approveResume,
  fanOut,
  gateBytes,
  stepCostFew,
  stepCostMany,
  stepsPerSec,
  timerBytes,
  timerRate,
} from './measures/runs';
import { scanClean, scanDirty } from './measures/scan';
import { login, loginProbe } from './measures/sign-in';
import { streamFanOut, streamLatency } from './measures/streams';
import { submit } from './measures/submit';

/** Tolerated growth from the first drain to the last, within the variation of the garbage collector. */
const MAX_GROWTH = 1.05;
const ours = ['api', 'scheduler', 'engine', 'worker'] as const;

/** All results in order of measurement: those that need an empty store first, those that need a full one last. */
export const measures: readonly Measure[] = [
  { name: 'policy_1_p99', unit: 'µs', mark: atMost(20), run: policyP99(1) },
  { name: 'policy_100_p99', unit: 'µs', mark: atMost(50), run: policyP99(100) },
  { name: 'policy_1000_p99', unit: 'µs', mark: atMost(100), run: policyP99(1_000) },
  { name: 'policy_10000_p99', unit: 'µs', mark: atMost(500), run: policyP99(10_000) },
  {
    name: 'velocity',
    unit: 'checks/s',
    limit: rawLimit('redis_script'),
    mark: ratioAtLeast(0.55),
    run: velocityRate,
  },
  { name: 'publish_visible', unit: 'ms', mark: atMost(1_000), run: publishVisible },
  { name: 'scan_clean', unit: 'MB/s', mark: atLeast(60), run: scanClean },
  { name: 'scan_dirty', unit: 'MB/s', mark: atLeast(10), run: scanDirty },
  { name: 'policy_grpc_64_p99', unit: 'ms', mark: atMost(8), run: policyGrpc },
  { name: 'audit_append', unit: 'events/s', mark: atLeast(50_000), run: auditAppend },
  { name: 'audit_verify', unit: 'events/s', mark: atLeast(200_000), run: auditVerify },
  { name: 'export', unit: 'MB/s', mark: atLeast(50), run: auditExport },
  ...costed.map((process): Measure => ({ name: `rss_${process}_rest`, unit: 'MB', run: rssAtRest(process) })),
  { name: 'redis_calls_per_job', unit: 'calls', mark: atMost(0.6), run: redisCalls },
  { name: 'redis_calls_per_job_alone', unit: 'calls', mark: atMost(2), run: redisCallsAlone },
  { name: 'roundtrip_messages', unit: 'messages', mark: atMost(12), run: roundTripMessages },
  { name: 'roundtrip_1_p50', unit: 'ms', mark: atMost(4), run: roundTrip1(0.5) },
  { name: 'roundtrip_1_p99', unit: 'ms', run: roundTrip1(0.99) },
  { name: 'roundtrip_64', unit: 'jobs/s', mark: atLeast(2_000), run: roundTrip64 },
  { name: 'roundtrip_64_foreign', unit: 'jobs/s', run: roundTrip64Foreign },
  { name: 'stream_fanout', unit: 'events/s', mark: atLeast(50_000), run: streamFanOut },
  { name: 'stream_latency_p99', unit: 'ms', mark: atMost(20), run: streamLatency },
  { name: 'login', unit: 'sign-ins/s', run: login },
  { name: 'login_probe_p99', unit: 'ms', mark: atMost(20), run: loginProbe },
  { name: 'auth_overhead', unit: 'of the open rate', mark: atLeast(0.9), run: authOverhead },
  { name: 'agent_stop_p99', unit: 'ms', mark: atMost(1_000), run: agentStop },
  {
    name: 'submit',
    unit: 'jobs/s',
    limit: rawLimit('express_post_bullmq_add'),
    mark: ratioAtLeast(0.95),
    run: submit,
  },
  { name: 'drain', unit: 'jobs/s', limit: rawLimit('bullmq_process'), mark: ratioAtLeast(0.22), run: drain },
  { name: 'redis_commands_per_job', unit: 'commands', mark: atMost(48), run: redisCommands },
  ...costed.map((process): Measure => ({ name: `cpu_us_per_job_${process}`, unit: 'µs', run: cpuPerJob(process) })),
  { name: 'cpu_us_per_job_all', unit: 'µs', mark: atMost(700), run: cpuPerJob(...costed) },
  { name: 'audit_cpu', unit: '% of a job', mark: atMost(3), run: auditCpu },
  ...costed.map((process): Measure => ({ name: `rss_${process}_drain_1`, unit: 'MB', run: rssAfter(process, 1) })),
  ...costed.map((process): Measure => ({
    name: `rss_${process}_drain_3`,
    unit: 'MB',
    limit: { name: `rss_${process}_drain_1`, value: rssAfter(process, 1) },
    // Redis and NATS grow with the jobs they store.
    ...(ours.some((name) => name === process) && { mark: ratioAtMost(MAX_GROWTH) }),
    run: rssAfter(process, -1),
  })),
  {
    name: 'drain_everysec',
    unit: 'jobs/s',
    limit: rawLimit('bullmq_process'),
    run: drainEverysec,
  },
  {
    name: 'drain_100k',
    unit: 'jobs/s',
    limit: { name: 'drain', value: drain },
    mark: ratioAtLeast(0.9),
    run: drain100k,
  },
  { name: 'fairness', unit: '× alone', mark: atMost(2), run: fairness },
  { name: 'attested_heartbeats', unit: 'workers', mark: atLeast(2_000), run: attestedHeartbeats('unsigned') },
  { name: 'attested_heartbeats_signed', unit: 'workers', run: attestedHeartbeats('signed') },
  { name: 'list_p99', unit: 'ms', mark: atMost(15), run: list },
  { name: 'detail_p99', unit: 'ms', mark: atMost(5), run: detail },
  // Runs come last: some keep waiting at their approval steps, and drains must have no other waiting jobs.
  {
    name: 'run_1step',
    unit: 'steps/s',
    limit: { name: 'roundtrip_64', value: roundTrip64 },
    mark: ratioAtLeast(0.55),
    run: stepsPerSec('one', 1),
  },
  {
    name: 'run_3step',
    unit: 'steps/s',
    limit: { name: 'roundtrip_64', value: roundTrip64 },
    mark: ratioAtLeast(0.75),
    run: stepsPerSec('three', 3),
  },
  { name: 'fanout_1000', unit: 's', mark: atMost(0.4), run: fanOut },
  { name: 'approve_resume_p50', unit: 'ms', mark: atMost(25), run: approveResume },
  {
    name: 'step_cost_10k_runs',
    unit: 'µs',
    limit: { name: 'step_cost_10_runs', value: stepCostFew },
    mark: ratioAtMost(1.1),
    run: stepCostMany,
  },
  { name: 'gates_10k', unit: 'bytes', run: gateBytes },
  { name: 'timers_100k', unit: 'bytes', run: timerBytes },
  { name: 'timers_100k_rate', unit: 'timers/s', run: timerRate },
];
