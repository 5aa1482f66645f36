export type { KernelEvents, LoadReport } from './events';
export type {
  BreakerStatus,
  BreakerStatuses,
  ExplainedDecision,
  Kernel,
  OutputCheckRequest,
  OutputVerdict,
  PolicyTrial,
  Readiness,
} from './kernel';
export { breakerStates } from './breaker/breaker.states';
export { loadScanners } from './local/load-scanners';
export { loadBase, readCapped, type BaseSource, type LoadedBase } from './local/load-policy';
export { readPublicKey } from './local/signature';
export { openOfflineKernel, type OfflineParts } from './local/offline-kernel';
export { standardScanners, type ReadScanners, type Scanners } from './scan/scanners';
export { openLocalKernel, type KernelDeps, type LocalKernelSettings } from './local/open-local-kernel';
export { openKernel } from './open-kernel';
export { openRemoteKernel, type RemoteKernelSettings } from './remote/open-remote-kernel';
export { KernelUnavailable } from './remote/remote-kernel';
export { kernelSettings, localKernelSettings, type KernelSettings } from './settings';
export * from './wire/batch-messages';
export * from './wire/output-messages';
export { policyCodec } from './wire/policy-codec';
export * from './wire/policy-messages';
