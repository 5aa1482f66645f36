import type { BundleIdQuery } from '@svc/contract';

/** The bundle id of a request: from the query, or from the path with `~` for each `/`. */
export const getBundleId = (params: { bundle_id: string }, query: BundleIdQuery): string =>
  query.bundle_id ?? params.bundle_id.replaceAll('~', '/');
