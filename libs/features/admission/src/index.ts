/** Limits on new work: backlog, memory and request rates of tenants. */
export { type Admission, openDoor, PicturedAdmission } from './admission';
export { admissionSettings } from './admission-settings';
export { tenantRates } from './tenant-rates';
