export { followLicense, requestLicenseReload } from './follow-license';
export { openEndings } from './open-endings';
export * from './open-platform';
export * from './open-service-kernel';
export { jobBus, licenseLimits } from './shared-ports';
export * from './when-available';
export { type Loop, startLoops } from './loops';
export type { Base, Clock, Fleet, JobBus, LicenseLimits, Random, StoredFleet } from './ports';
