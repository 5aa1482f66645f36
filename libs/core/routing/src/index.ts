export * from './choose-worker';
export * from './lane';
export * from './pools-file';
export * from './retry';
export * from './timeouts-file';
export * from './topic-pattern';
