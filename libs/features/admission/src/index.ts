/** Limits on new work: backlog, memory and request rates of tenants. */
export { type Admission, admitAll, SnapshotAdmission } from './admission';
export { admissionSettings } from './admission-settings';
export { tenantRates } from './tenant-rates';
