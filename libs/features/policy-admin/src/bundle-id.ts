import type { BundleIdQuery } from '@svc/contract';

/** The bundle a request names: by the query, or by the path with `~` for each `/`. */
export const bundleIdOf = (params: { bundle_id: string }, query: BundleIdQuery): string =>
  query.bundle_id ?? params.bundle_id.replaceAll('~', '/');
