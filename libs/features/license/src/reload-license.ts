import { requireInstallationCaller, type Caller, type LicenseSummary } from '@svc/contract';
import { requestLicenseReload } from '@svc/platform';
import { toLicenseSummary } from './license-view';
import type { LicenseDeps } from './read-usage';

/**
 * Reads the license again, here at once and in the other processes within two seconds. An invalid license is reported in its
 * state and is not an error.
 *
 * @throws tenant_access_denied
 */
export async function reloadLicense(
  { store, license, defaultTenant }: Pick<LicenseDeps, 'store' | 'license' | 'defaultTenant'>,
  caller: Pick<Caller, 'tenant' | 'allowCrossTenant'>,
): Promise<{ status: string; plan: string; license: LicenseSummary }> {
  requireInstallationCaller(caller, defaultTenant);
  const state = license.reload();
  // After a crash here only this process would have had the new license, and the caller repeats the request.
  await requestLicenseReload(store.redis);
  return { status: 'reloaded', plan: state.plan, license: toLicenseSummary(state) };
}
