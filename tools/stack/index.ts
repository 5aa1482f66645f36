export type { StackInfo } from './info';
export type { KeyHolder, KeyName } from './keys';
export type { LicensePlan } from './license';
export type { ServicePlan, StackOptions } from './settings';
export type { WorkerAccess } from '../credentials/worker-access';
export type { StoreAccess } from './stores';
export { startStack, type Stack } from './stack';
