import type { ApiInfo } from '@svc/http';

/** General information of the OpenAPI document. */
export const apiInfo = (version: string): ApiInfo => ({
  title: 'Control plane for AI workers',
  version,
  description:
    'Submit jobs, see what policy decided about them, approve what is held, and read what came of them. Send an API key as X-API-Key (or a bearer token), and the tenant as X-Tenant-ID.',
});
