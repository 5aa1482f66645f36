import { streams, subjects, topicConsumer, workerConsumer, workerJobsSubject, type ConsumerSpec } from '@svc/contract';
import { keys } from '@svc/store';
import { createHash } from 'node:crypto';

/** User of the services, in NATS and in Redis. */
export const serviceUser = 'svc';
/** Redis user with every command, for people and for changing users while Redis runs. */
export const adminUser = 'admin';
/** Redis user that can only PING. */
export const healthUser = 'health';
export const poolUser = (pool: string): string => `pool-${pool}`;

export interface PoolIdentity {
  name: string;
  /** Topic patterns that the pool serves. */
  topics: readonly string[];
  redisPassword: string;
  workers: readonly { id: string; natsPassword: string }[];
}

/** Every identity of the stores of one installation. */
export interface StoreIdentities {
  natsServicePassword: string;
  redisServicePassword: string;
  redisAdminPassword: string;
  redisHealthPassword: string;
  pools: readonly PoolIdentity[];
}

const jobsStream = streams.jobs.name;

/** Subjects that a worker publishes and the services consume. */
const fromWorkers = [
  subjects.jobResult,
  subjects.jobProgress,
  subjects.heartbeat,
  subjects.handshake,
  subjects.alert,
  subjects.workerChallenge,
  subjects.workerAuthenticate,
].map(({ name }) => name);
const jetStreamInfo = '$JS.API.INFO';

/** What accounts of pools can reach in the account of the services; the permissions of each user narrow it down. */
const exportedServices = [
  ...fromWorkers,
  jetStreamInfo,
  `$JS.API.CONSUMER.CREATE.${jobsStream}.>`,
  `$JS.API.CONSUMER.INFO.${jobsStream}.*`,
  `$JS.API.CONSUMER.MSG.NEXT.${jobsStream}.*`,
  `$JS.ACK.${jobsStream}.>`,
];
const exportedStreams = [subjects.jobCancel.name, ...streams.jobs.subjects];
/** A pull is answered by many messages. */
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

/** In the configuration language of nats-server a string in double quotes has the escapes of JSON. */
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
  ];
  const imported = (kind: string) => (subject: string) => `{ ${kind}: { account: SVC, subject: ${quote(subject)} } }`;
  const imports = [...exportedServices.map(imported('service')), ...exportedStreams.map(imported('stream'))];
  const pools = identities.pools.map(({ name, topics, workers }) => {
    const users = workers.map(({ id, natsPassword }) => {
      const { publish, subscribe } = workerPermissions(id, topics);
      const permissions = `publish: [${publish.map(quote).join(', ')}], subscribe: [${subscribe.map(quote).join(', ')}]`;
      return user(id, natsPassword, `, permissions: { ${permissions} }`);
    });
    return `  ${quote(`pool-${name}`)} {\n    users: ${list(users)}\n    imports: ${list(imports)}\n  }\n`;
  });
  return `# Generated. Written again at every start and by \`npm run credentials\`.
# JetStream is configured here: a reload turns off what only the command line turned on.
jetstream { store_dir: ${quote(storeDir)} }

accounts {
  SVC {
    jetstream: enabled
    users: ${list([user(serviceUser, identities.natsServicePassword)])}
    exports: ${list(exports)}
  }
${pools.join('')}}
`;
}

/** What a worker can do in Redis: inputs are read-only, so that an input does not change after its approval. */
const workerRules = [
  'resetchannels',
  `%R~${keys.context('*')}`,
  ...[keys.result('*'), keys.artifact('*'), keys.memory('*')].map((pattern) => `~${pattern}`),
  '-@all',
  ...['get', 'set', 'getrange', 'strlen', 'expire', 'rpush', 'lrange', 'ltrim'].map((command) => `+${command}`),
  // How clients start, and how the SDK stores an artifact with its metadata.
  ...['ping', 'info', 'multi', 'exec', 'client|setname'].map((command) => `+${command}`),
].join(' ');

/** Dangerous commands that the services need: reading the set-up of Redis, and listing the workers of queues. */
const serviceRules = '~* &* +@all -@dangerous +info +config|get +client|list';

const rulesOf = (name: string, password: string, rules: string) => ({
  name,
  // `reset`, so that the same rules replace a user of a running Redis.
  rules: `reset on #${createHash('sha256').update(password).digest('hex')} ${rules}`,
});

/** The users of Redis with their rules, as in `ACL SETUSER <name> <rules>`. */
export const redisUsers = (identities: StoreIdentities): { name: string; rules: string }[] => [
  { name: 'default', rules: 'reset off' },
  rulesOf(serviceUser, identities.redisServicePassword, serviceRules),
  rulesOf(adminUser, identities.redisAdminPassword, '~* &* +@all'),
  rulesOf(healthUser, identities.redisHealthPassword, '-@all +ping'),
  ...identities.pools.map(({ name, redisPassword }) => rulesOf(poolUser(name), redisPassword, workerRules)),
];

/** The file of the Redis setting `aclfile`. */
export const renderRedisAcl = (identities: StoreIdentities): string =>
  redisUsers(identities)
    .map(({ name, rules }) => `user ${name} ${rules}\n`)
    .join('');
