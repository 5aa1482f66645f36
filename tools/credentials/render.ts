import {
  jetStreamInfoSubject,
  sentBySubject,
  serviceUser,
  streams,
  subjects,
  subjectsFromWorkers,
  topicConsumer,
  workerCancelSubject,
  workerConsumer,
  workerJobsSubject,
  type ConsumerSpec,
} from '@svc/contract';
import { workerRedisRules } from '@svc/store';
import { createHash } from 'node:crypto';

export { serviceUser };
/** Redis user with all permissions, for operators and for changing users at runtime. */
export const adminUser = 'admin';
/** Redis user of the scheduler that makes the users of workers with a credential. It can give itself any permission. */
export const aclUser = 'acl';
/** Redis user that can only PING. */
export const healthUser = 'health';
export const poolUser = (pool: string): string => `pool-${pool}`;
/** NATS user of a generated worker. Worker ids are the users of workers with a credential, and have no dot. */
export const generatedUser = (pool: string, workerId: string): string => `${pool}.${workerId}`;
/** File with the accounts of workers with a credential, relative to the folder of the configuration. */
export const natsWorkersFile = 'workers/workers.conf';

export interface PoolIdentity {
  name: string;
  /** Topic patterns that the pool serves. */
  topics: readonly string[];
  redisPassword: string;
  workers: readonly { id: string; natsPassword: string }[];
}

/** All users of Redis and NATS of an installation. */
export interface StoreIdentities {
  natsServicePassword: string;
  redisServicePassword: string;
  redisAdminPassword: string;
  redisHealthPassword: string;
  redisAclPassword: string;
  pools: readonly PoolIdentity[];
}

const jobsStream = streams.jobs.name;
const fromWorkers = subjectsFromWorkers;
const jetStreamInfo = jetStreamInfoSubject;

/** Subjects that pool accounts import from the service account; user permissions restrict them further. */
const exportedServices = [
  ...fromWorkers,
  jetStreamInfo,
  `$JS.API.CONSUMER.CREATE.${jobsStream}.>`,
  `$JS.API.CONSUMER.INFO.${jobsStream}.*`,
  `$JS.API.CONSUMER.MSG.NEXT.${jobsStream}.*`,
  `$JS.ACK.${jobsStream}.>`,
];
const exportedStreams = [subjects.jobCancel.name, ...streams.jobs.subjects];
/** A pull request has many responses. */
const isPull = (subject: string) => subject.includes('.MSG.NEXT.');

/** Creating and reading one durable consumer, and acknowledging its messages. The filter of the consumer is fixed. */
const consumerSubjects = ({ stream, durable, subject }: ConsumerSpec) => [
  `$JS.API.CONSUMER.CREATE.${stream}.${durable}.${subject}`,
  `$JS.API.CONSUMER.INFO.${stream}.${durable}`,
  `$JS.API.CONSUMER.MSG.NEXT.${stream}.${durable}`,
  `$JS.ACK.${stream}.${durable}.>`,
];

/** Subjects that one worker may publish to and subscribe to. */
export function workerPermissions(workerId: string, topics: readonly string[]) {
  // The name of a consumer is one token, so a permission cannot match the consumers of all topics under a pattern.
  const named = topics.filter((topic) => !/[*>]/.test(topic));
  return {
    publish: [
      ...fromWorkers,
      jetStreamInfo,
      ...[workerConsumer(workerId), ...named.map((topic) => topicConsumer(topic))].flatMap(consumerSubjects),
    ],
    subscribe: [subjects.jobCancel.name, workerJobsSubject(workerId), ...topics, '_INBOX.>'],
  };
}

/** nats-server configuration uses JSON escapes in double-quoted strings. */
const quote = (text: string) => JSON.stringify(text);
const list = (entries: readonly string[]) => `[\n${entries.map((entry) => `      ${entry}\n`).join('')}    ]`;
const user = (name: string, password: string, rest = '') =>
  `{ user: ${quote(name)}, password: ${quote(password)}${rest} }`;

/** @param storeDir folder of JetStream, as nats-server sees it */
export function renderNatsConf(identities: StoreIdentities, storeDir: string): string {
  const exports = [
    ...exportedServices.map(
      (subject) => `{ service: ${quote(subject)}${isPull(subject) ? ', response_type: stream' : ''} }`,
    ),
    ...exportedStreams.map((subject) => `{ stream: ${quote(subject)} }`),
    // For the accounts of workers with a credential, each of which imports its own subjects.
    ...fromWorkers.map((subject) => `{ service: ${quote(sentBySubject('*', subject))} }`),
    `{ stream: ${quote(workerCancelSubject('*'))} }`,
  ];
  const imported = (kind: string) => (subject: string) => `{ ${kind}: { account: SVC, subject: ${quote(subject)} } }`;
  const imports = [...exportedServices.map(imported('service')), ...exportedStreams.map(imported('stream'))];
  const pools = identities.pools.map(({ name, topics, workers }) => {
    const users = workers.map(({ id, natsPassword }) => {
      const { publish, subscribe } = workerPermissions(id, topics);
      const permissions = `publish: [${publish.map(quote).join(', ')}], subscribe: [${subscribe.map(quote).join(', ')}]`;
      return user(generatedUser(name, id), natsPassword, `, permissions: { ${permissions} }`);
    });
    return `  ${quote(`pool-${name}`)} {\n    users: ${list(users)}\n    imports: ${list(imports)}\n  }\n`;
  });
  return `# Generated. Overwritten at every start and by \`npm run credentials\`.
# JetStream is configured here: a reload turns off what only the command line turned on.
jetstream { store_dir: ${quote(storeDir)} }

accounts {
  SVC {
    jetstream: enabled
    users: ${list([user(serviceUser, identities.natsServicePassword)])}
    exports: ${list(exports)}
  }
${pools.join('')}  # Kept by the scheduler equal to the credentials of workers.
  include ${quote(natsWorkersFile)}
}
`;
}

const workerRules = workerRedisRules.join(' ');

/** Dangerous commands that the services need: reading the Redis configuration and listing queue workers. */
const serviceRules = '~* &* +@all -@dangerous +info +config|get +client|list';

/** `INFO` is sent by the client on connect. */
const aclRules = '-@all +acl|list +acl|setuser +acl|deluser +ping +info';

const buildRules = (name: string, password: string, rules: string) => ({
  name,
  // `reset`, so that the rules replace those of an existing user.
  rules: `reset on #${createHash('sha256').update(password).digest('hex')} ${rules}`,
});

/** The users of Redis with their rules, as in `ACL SETUSER <name> <rules>`. */
export const redisUsers = (identities: StoreIdentities): { name: string; rules: string }[] => [
  // Nothing connects as this user. It has every permission because Redis checks those of this user when it loads transactions
  // from its append-only file, and silently skips commands that it may not run.
  { name: 'default', rules: 'reset off ~* &* +@all' },
  buildRules(serviceUser, identities.redisServicePassword, serviceRules),
  buildRules(adminUser, identities.redisAdminPassword, '~* &* +@all'),
  buildRules(healthUser, identities.redisHealthPassword, '-@all +ping'),
  buildRules(aclUser, identities.redisAclPassword, aclRules),
  ...identities.pools.map(({ name, redisPassword }) => buildRules(poolUser(name), redisPassword, workerRules)),
];

/** The file of the Redis setting `aclfile`. */
export const renderRedisAcl = (identities: StoreIdentities): string =>
  redisUsers(identities)
    .map(({ name, rules }) => `user ${name} ${rules}\n`)
    .join('');
