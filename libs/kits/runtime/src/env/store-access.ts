import type { commonVariables } from './common';
import { variables, type EnvOf, type Rule } from './declare';
import { encrypted } from './rules';

/** Used by the scheduler, which makes users of NATS and Redis from the credentials of workers. */
export const storeAccessVariables = variables({
  natsWorkersFile: {
    name: 'SVC_NATS_WORKERS_FILE',
    type: 'path',
    doc: 'File that this service keeps equal to the credentials of workers: their accounts, which the configuration of nats-server includes in `accounts` and must reload when the file changes. Unset: workers get no NATS users from their credentials.',
  },
  redisAclUrl: {
    name: 'SVC_REDIS_ACL_URL',
    type: 'url',
    doc: 'The Redis of REDIS_URL, with a user that may run ACL LIST, SETUSER and DELUSER: makes a Redis user for each worker with a credential. Unset: these workers get no Redis users and use data URLs. Not with REDIS_CLUSTER_ADDRESSES, since each node has users of its own.',
  },
});

type AccessEnv = EnvOf<typeof storeAccessVariables> & EnvOf<typeof commonVariables>;

export const storeAccessRules: Rule<AccessEnv> = (env) =>
  env.redisAclUrl === undefined
    ? []
    : [
        ...encrypted(env.production, 'SVC_REDIS_ACL_URL', env.redisAclUrl, 'rediss'),
        ...(env.redisClusterAddresses.length > 0
          ? [
              {
                name: 'SVC_REDIS_ACL_URL',
                given: 'a URL',
                expected: 'nothing, because REDIS_CLUSTER_ADDRESSES is set',
                fix: 'Unset it: workers then use data URLs.',
              },
            ]
          : []),
      ];
