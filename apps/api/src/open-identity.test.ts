import { apiEnv, Health, readEnv, silentLogger, systemClock, type LogFields } from '@svc/runtime';
import { queues } from '@svc/queues.config';
import { ApiKeyRepository, openStore, RoleRepository } from '@svc/store';
import { Redis } from 'ioredis';
import { ManagedKeys, RoleBook } from '@svc/access';
import type { Platform } from '@svc/platform';
import { CredentialChanges } from '@svc/identity';
import { openIdentity } from './open-identity';

describe('the log of the start', () => {
  it('lists the positions of keys without a role, and none of the keys', () => {
    const warnings: [string, LogFields | undefined][] = [];
    const log = { ...silentLogger, warn: (text: string, fields?: LogFields) => void warnings.push([text, fields]) };
    const { values: env } = readEnv(apiEnv, { SVC_API_KEYS: 'secret-one,acme:secret-two:viewer,acme:secret-three' });
    const clock = systemClock();
    const redis = new Redis({ lazyConnect: true });
    const onChanged = () => undefined;
    const managedKeys = new ManagedKeys({ apiKeys: new ApiKeyRepository(redis), clock, onChanged });
    const roleBook = new RoleBook({ roles: new RoleRepository(redis), clock, onChanged });

    openIdentity(
      {
        env,
        log,
        clock,
        health: new Health({ clock }),
        build: { version: '0.0.0', commit: 'c', date: '', protocol: 1 },
        stopping: new AbortController().signal,
        onStop: () => undefined,
      },
      // Opening them reads nothing.
      { store: openStore(redis, queues, { metaSec: 1, dataSec: 1 }), license: {} as Platform['license'] },
      { changes: new CredentialChanges(() => clock.nowMs()), announce: () => undefined },
      { managedKeys, roleBook },
    );

    expect(warnings).toEqual([
      ['keys without a role have role admin; set a role', { variable: 'SVC_API_KEYS', entries: '1, 3' }],
    ]);
    expect(JSON.stringify(warnings)).not.toContain('secret-');
    redis.disconnect();
  });
});
