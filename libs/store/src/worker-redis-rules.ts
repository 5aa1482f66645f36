import { keys } from './keys';

/** Redis permissions of a worker, as in ACL SETUSER. Inputs are read-only, so that an approved input cannot change. */
export const workerRedisRules: readonly string[] = [
  'resetchannels',
  `%R~${keys.context('*')}`,
  ...[keys.result('*'), keys.artifact('*'), keys.memory('*')].map((pattern) => `~${pattern}`),
  '-@all',
  ...['get', 'set', 'getrange', 'strlen', 'expire', 'rpush', 'lrange', 'ltrim'].map((command) => `+${command}`),
  // Used by clients on connect, and by the SDK to store an artifact with its metadata.
  ...['ping', 'info', 'multi', 'exec', 'client|setname'].map((command) => `+${command}`),
];
