export * from './queue';
export * from './spec';
