import * as contract from '@svc/contract';
import { handlersFor } from '@svc/http';
import { toLicenseView } from './license-view';
import { readLicenseUsage, type LicenseDeps } from './read-usage';
import { reloadLicense } from './reload-license';

/** Dependencies of these handlers. */
export interface LicenseContext {
  license: LicenseDeps;
}

const handle = handlersFor<LicenseContext>();

/** The license in effect and the use of its limits. */
export const licenseRoutes = [
  handle(contract.getLicense, async ({ ctx }) => toLicenseView(ctx.license.license.state())),
  handle(contract.getLicenseUsage, ({ caller, ctx }) => readLicenseUsage(ctx.license, caller)),
  handle(contract.reloadLicense, ({ caller, ctx }) => reloadLicense(ctx.license, caller)),
];
