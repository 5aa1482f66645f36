import type { EnvOf, kernelEnv, ApiEnv, EngineEnv, SchedulerEnv } from '@svc/runtime';
import type { LocalKernelSettings } from './local/open-local-kernel';
import type { RemoteKernelSettings } from './remote/open-remote-kernel';

/** Evaluates policy over gRPC when an address is configured, otherwise within this process. */
export interface KernelSettings {
  local: LocalKernelSettings;
  remote: RemoteKernelSettings | undefined;
}

/** The settings of the kernel itself, from SAFETY_* and OUTPUT_SCANNERS_PATH. */
export const localKernelSettings = (env: Pick<EnvOf<typeof kernelEnv.variables>, PolicyKey>): LocalKernelSettings => ({
  policyPath: env.policyPath,
  policyUrl: env.policyUrl
    ? {
        url: env.policyUrl,
        allowlist: env.policyUrlAllowlist,
        allowPrivate: env.policyUrlAllowPrivate,
        production: env.production,
      }
    : undefined,
  scannersPath: env.outputScannersPath,
  policyMaxBytes: env.policyMaxBytes,
  reloadIntervalMs: env.policyReloadIntervalMs,
  signature: {
    required: env.policySignatureRequired,
    publicKey: env.policyPublicKey,
    signature: env.policySignature,
    signaturePath: env.policySignaturePath,
  },
  bundles: {
    disabled: env.policyConfigDisabled,
    scope: env.policyConfigScope,
    id: env.policyConfigId,
    key: env.policyConfigKey,
    strict: env.policyStrict,
    publicKeys: env.policyPublicKeys,
  },
  velocityFailMode: env.velocityFailMode,
  decisionCache: { ttlMs: env.decisionCacheTtlMs, maxSize: env.decisionCacheMaxSize },
});

type PolicyKey =
  | 'policyPath'
  | 'policyUrl'
  | 'policyUrlAllowlist'
  | 'policyUrlAllowPrivate'
  | 'production'
  | 'outputScannersPath'
  | 'policyMaxBytes'
  | 'policyReloadIntervalMs'
  | 'policySignatureRequired'
  | 'policyPublicKey'
  | 'policySignature'
  | 'policySignaturePath'
  | 'policyConfigDisabled'
  | 'policyConfigScope'
  | 'policyConfigId'
  | 'policyConfigKey'
  | 'policyStrict'
  | 'policyPublicKeys'
  | 'velocityFailMode'
  | 'decisionCacheTtlMs'
  | 'decisionCacheMaxSize';

/** Kernel settings of gateway, engine and scheduler. */
export const kernelSettings = (env: ApiEnv | EngineEnv | SchedulerEnv): KernelSettings => ({
  local: localKernelSettings(env),
  remote: env.kernelAddr && {
    address: env.kernelAddr,
    tls:
      env.kernelTlsCa || env.kernelTlsRequired
        ? {
            ca: env.kernelTlsCa,
            cert: env.kernelTlsCert,
            key: env.kernelTlsKey,
            insecure: env.kernelInsecure,
            minVersion: env.tlsMinVersion,
          }
        : undefined,
    keepaliveTimeMs: env.grpcClientKeepaliveTimeMs,
    keepaliveTimeoutMs: env.grpcClientKeepaliveTimeoutMs,
  },
});
