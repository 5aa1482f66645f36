import type { ApiEnv } from '@svc/runtime';

const localGateway = 'http://localhost:8081';

/** SVC_API_BASE_URL, else the gateway of the local stack. Without a slash at its end. */
export const readBaseUrl = ({ apiBaseUrl }: Pick<ApiEnv, 'apiBaseUrl'>): string =>
  withoutSlash(apiBaseUrl ?? localGateway);

export const withoutSlash = (url: string): string => (url.endsWith('/') ? url.slice(0, -1) : url);
