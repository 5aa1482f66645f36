export * from './queue';
export * from './spec';
export * from './counts';
