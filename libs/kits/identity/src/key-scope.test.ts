import { missingScope } from './key-scope';

describe('scopes of an API key', () => {
  it.each([
    [[], 'POST', '/api/v1/jobs', undefined],
    [['jobs:read'], 'GET', '/api/v1/jobs/1', undefined],
    [['jobs:read'], 'GET', '/api/v1/traces/1', undefined],
    [['jobs:write'], 'GET', '/api/v1/jobs', 'jobs:read'],
    [['jobs:read'], 'POST', '/api/v1/jobs', 'jobs:write'],
    [['jobs:*'], 'DELETE', '/api/v1/jobs/1', undefined],
    [['jobs:*'], 'GET', '/api/v1/dlq', 'dlq:read'],
    [['read'], 'GET', '/api/v1/dlq', undefined],
    [['viewer'], 'PUT', '/api/v1/pools/a', 'workers:write'],
    [['write'], 'GET', '/api/v1/jobs', undefined],
    [['operator'], 'PATCH', '/api/v1/pools/a', undefined],
    [['admin'], 'POST', '/api/v1/auth/keys', undefined],
    [['jobs:*'], 'GET', '/api/v1/auth/keys', 'apikeys:read'],
    [['jobs:*'], 'GET', '/api/v1/status', ''],
    [['jobs:*'], 'GET', '/api/v1/constructor', ''],
    [['viewer'], 'GET', '/api/v1/status', undefined],
    [['read', 'jobs:write'], 'POST', '/api/v1/unmapped', ''],
    [['operator'], 'POST', '/api/v1/unmapped', undefined],
  ])('%j %s %s lacks %p', (scopes, method, path, lacks) => {
    expect(missingScope(scopes, method, path)).toBe(lacks);
  });
});
