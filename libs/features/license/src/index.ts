/** The license in effect and the use of its limits. */
export { toLicenseSummary } from './license-view';
export { readLicensedCounts } from './read-usage';
export { licenseRoutes, type LicenseContext } from './routes';
