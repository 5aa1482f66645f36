export * from './caller';
export * from './endpoint';
export * from './errors';
export * from './permissions';
export * from './shape';
export * from './proto/descriptor';
export * from './proto/messages';
