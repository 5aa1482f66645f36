import { admissionVariables } from './admission';
import { auditRules, auditVariables } from './audit';
import { auditExportRules, auditExportVariables } from './audit-export';
import { telemetryRules, telemetryVariables } from './telemetry';
import { commonRules, commonVariables } from './common';
import { dataUrlRules, dataUrlVariables } from './data-urls';
import { delegationVariables } from './delegation';
import { envSpec, variables, type EnvOf, type Rule } from './declare';
import { grantRules, grantVariables } from './dispatch-grants';
import { gatewayAuthRules, gatewayAuthVariables, signInRules } from './gateway-auth';
import { decisionLogVariables, evalVariables } from './governance';
import { grpcServerRules, grpcServerVariables } from './grpc-server';
import { kernelClientRules, kernelClientVariables } from './kernel-client';
import { oidcRules, oidcVariables } from './oidc';
import { policyRules, policyVariables } from './policy';
import { policySigningRules, policySigningVariables } from './policy-signing';
import { readinessVariables } from './readiness';
import { resultTicketRules, resultTicketVariables } from './result-tickets';
import { cidrRanges, metricsPrivate, needed, pair } from './rules';
import { samlRules, samlVariables } from './saml';
import { schemaVariables } from './schemas';
import { scimRules, scimVariables } from './scim';
import { signInPageVariables } from './sign-in-pages';
import { streamVariables } from './streams';
import { userRules, userVariables } from './users';
import { workerTrustRules, workerTrustVariables } from './worker-trust';
import { workflowLimitVariables } from './workflow-limits';

const gateway = variables({
  httpAddr: {
    name: 'GATEWAY_HTTP_ADDR',
    type: 'address',
    default: '127.0.0.1:8081',
    productionDefault: ':8081',
    listens: true,
    doc: 'HTTP: REST, the API viewer and Bull Board.',
  },
  grpcAddr: {
    name: 'GATEWAY_GRPC_ADDR',
    type: 'address',
    default: '127.0.0.1:8080',
    productionDefault: ':8080',
    listens: true,
    doc: 'gRPC.',
  },
  metricsAddr: {
    name: 'GATEWAY_METRICS_ADDR',
    type: 'address',
    default: '127.0.0.1:9092',
    productionDefault: ':9092',
    listens: true,
    doc: 'Metrics and probes.',
  },
  metricsPublic: {
    name: 'GATEWAY_METRICS_PUBLIC',
    type: 'bool',
    default: 'false',
    doc: 'Permits a metrics listener that other hosts can reach in production.',
  },
  httpReadTimeoutMs: {
    name: 'GATEWAY_HTTP_READ_TIMEOUT',
    type: 'duration',
    min: '1s',
    default: '15s',
    doc: 'Time allowed to receive a request.',
  },
  httpWriteTimeoutMs: {
    name: 'GATEWAY_HTTP_WRITE_TIMEOUT',
    type: 'duration',
    min: '1s',
    default: '30s',
    doc: 'Time allowed for a handler, and for unsent response bytes while the client does not read.',
  },
  httpIdleTimeoutMs: {
    name: 'GATEWAY_HTTP_IDLE_TIMEOUT',
    type: 'duration',
    min: '1s',
    default: '120s',
    doc: 'Time after which an idle connection is closed.',
  },
  httpMaxConnections: {
    name: 'GATEWAY_HTTP_MAX_CONNECTIONS',
    type: 'int',
    min: 1,
    default: '4096',
    doc: 'Maximum open HTTP connections; further connections are closed on arrival.',
  },
  httpMaxConnectionsPerAddress: {
    name: 'GATEWAY_HTTP_MAX_CONNECTIONS_PER_ADDRESS',
    type: 'int',
    min: 1,
    default: '512',
    doc: 'Maximum open HTTP connections per client address (an IPv6 /64 counts as one); trusted proxies are exempt.',
  },
  trustedProxies: {
    name: 'SVC_TRUSTED_PROXIES',
    type: 'list',
    doc: 'Addresses and CIDR ranges, such as 10.1.2.0/24, of proxies whose X-Forwarded-For header is trusted.',
  },
  grpcMaxStreamsPerTenant: {
    name: 'GATEWAY_GRPC_MAX_STREAMS_PER_TENANT',
    type: 'int',
    min: 1,
    default: '100',
    doc: 'Maximum concurrent gRPC job streams per tenant and replica.',
  },
  httpTlsCert: {
    name: 'GATEWAY_HTTP_TLS_CERT',
    type: 'path',
    doc: 'Certificate of the HTTP listener; required in production.',
  },
  httpTlsKey: { name: 'GATEWAY_HTTP_TLS_KEY', type: 'path', doc: 'Key of GATEWAY_HTTP_TLS_CERT.' },
  grpcTlsCert: {
    name: 'GRPC_TLS_CERT',
    type: 'path',
    doc: 'Certificate of the gRPC listener; required in production.',
  },
  grpcTlsKey: { name: 'GRPC_TLS_KEY', type: 'path', doc: 'Key of GRPC_TLS_CERT.' },
  hstsMaxAgeSec: {
    name: 'SVC_HSTS_MAX_AGE',
    type: 'int',
    min: 0,
    default: '63072000',
    doc: 'Seconds for which browsers use HTTPS only (HSTS max-age).',
  },
  dispatchAtSubmission: {
    name: 'GATEWAY_DISPATCH_AT_SUBMISSION',
    type: 'bool',
    default: 'true',
    doc: 'Places permitted jobs with the write that accepts them; false sends all of them to the scheduler first.',
  },
  maxJobPayloadBytes: {
    name: 'GATEWAY_MAX_JOB_PAYLOAD_BYTES',
    type: 'int',
    min: 1_024,
    default: '2097152',
    doc: 'Maximum bytes of a job input.',
  },
  maxJsonBodyBytes: {
    name: 'GATEWAY_MAX_JSON_BODY_BYTES',
    type: 'int',
    min: 1_024,
    default: '2097152',
    doc: 'Maximum bytes of a request body.',
  },
  artifactMaxBytes: {
    name: 'ARTIFACT_MAX_BYTES',
    type: 'int',
    min: 1_024,
    default: '10485760',
    doc: 'Maximum bytes of an artifact, and of an input or result that a worker transfers through a data URL.',
  },
  artifactTtlShortMs: {
    name: 'ARTIFACT_TTL_SHORT',
    type: 'duration',
    min: '1m',
    default: '24h',
    doc: 'Retention of artifacts of class short.',
  },
  artifactTtlStandardMs: {
    name: 'ARTIFACT_TTL_STANDARD',
    type: 'duration',
    min: '1m',
    default: '168h',
    doc: 'Retention of artifacts of class standard.',
  },
  artifactTtlAuditMs: {
    name: 'ARTIFACT_TTL_AUDIT',
    type: 'duration',
    min: '1m',
    default: '720h',
    doc: 'Retention of artifacts of class audit.',
  },
  rateLimitRps: {
    name: 'API_RATE_LIMIT_RPS',
    type: 'number',
    min: 0.001,
    default: '2000',
    doc: 'Requests per second per tenant.',
  },
  rateLimitBurst: {
    name: 'API_RATE_LIMIT_BURST',
    type: 'int',
    min: 1,
    default: '4000',
    doc: 'Request burst per tenant.',
  },
  publicRateLimitRps: {
    name: 'API_PUBLIC_RATE_LIMIT_RPS',
    type: 'number',
    min: 0.001,
    default: '20',
    doc: 'Requests per second per client address to public routes.',
  },
  publicRateLimitBurst: {
    name: 'API_PUBLIC_RATE_LIMIT_BURST',
    type: 'int',
    min: 1,
    default: '40',
    doc: 'Request burst per client address to public routes.',
  },
  sharedRateLimit: {
    name: 'REDIS_RATE_LIMIT',
    type: 'bool',
    default: 'true',
    doc: 'Shares rate limits between all gateways; otherwise each gateway applies its own.',
  },
  policyEvaluateRedact: {
    name: 'SVC_POLICY_EVALUATE_REDACT',
    type: 'bool',
    default: 'false',
    doc: 'Omits the matching rule and the reason from policy/evaluate responses.',
  },
});

const gatewayRules: Rule<EnvOf<typeof gateway>> = (env) => [
  ...cidrRanges('SVC_TRUSTED_PROXIES', env.trustedProxies),
  ...pair('GATEWAY_HTTP_TLS_CERT', env.httpTlsCert, 'GATEWAY_HTTP_TLS_KEY', env.httpTlsKey),
  ...pair('GRPC_TLS_CERT', env.grpcTlsCert, 'GRPC_TLS_KEY', env.grpcTlsKey),
  ...needed(
    env.production && !env.httpTlsKey,
    'GATEWAY_HTTP_TLS_CERT',
    env.httpTlsCert,
    'production serves HTTPS only',
  ),
  ...needed(
    env.production && !env.grpcTlsKey,
    'GRPC_TLS_CERT',
    env.grpcTlsCert,
    'production serves gRPC over TLS only',
  ),
  ...metricsPrivate(
    env.production,
    'GATEWAY_METRICS_ADDR',
    env.metricsAddr,
    'GATEWAY_METRICS_PUBLIC',
    env.metricsPublic,
  ),
];

/** The gateway's environment. */
export const apiEnv = envSpec({
  service: 'gateway',
  variables: {
    ...commonVariables,
    ...grpcServerVariables,
    ...gateway,
    ...readinessVariables,
    ...gatewayAuthVariables,
    ...signInPageVariables,
    ...oidcVariables,
    ...samlVariables,
    ...userVariables,
    ...kernelClientVariables,
    ...policyVariables,
    ...policySigningVariables,
    ...schemaVariables,
    ...scimVariables,
    ...streamVariables,
    ...admissionVariables,
    ...dataUrlVariables,
    ...resultTicketVariables,
    ...auditVariables,
    ...delegationVariables,
    ...auditExportVariables,
    ...telemetryVariables,
    ...workerTrustVariables,
    ...grantVariables,
    ...workflowLimitVariables,
    ...evalVariables,
    ...decisionLogVariables,
  },
  rules: [
    commonRules,
    grpcServerRules,
    gatewayRules,
    gatewayAuthRules,
    signInRules,
    oidcRules,
    samlRules,
    userRules,
    kernelClientRules,
    policySigningRules,
    dataUrlRules,
    resultTicketRules,
    auditRules,
    auditExportRules,
    telemetryRules,
    workerTrustRules,
    grantRules,
    scimRules,
    // A remote kernel loads and checks the policy itself.
    (env) => (env.kernelAddr ? [] : policyRules(env)),
  ],
});
export type ApiEnv = EnvOf<typeof apiEnv.variables>;
