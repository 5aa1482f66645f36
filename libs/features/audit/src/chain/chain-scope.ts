import { AppError, everyTenant, type Caller } from '@svc/contract';

/**
 * The tenant whose chain a request reads: its own, or another one with access to all tenants.
 *
 * @throws tenant_access_denied
 */
export function chainTenant(caller: Caller, wanted: string | undefined): string {
  if (!wanted || wanted === caller.tenant) return caller.tenant;
  if (caller.scope !== everyTenant && !caller.allowCrossTenant) throw new AppError('tenant_access_denied');
  return wanted;
}

/** A time as RFC 3339, or as ms since the epoch. @returns ms, undefined when it is none */
export function readTime(text: string): number | undefined {
  const ms = /^\d{1,15}$/.test(text) ? Number(text) : Date.parse(text);
  return Number.isFinite(ms) ? ms : undefined;
}
