export * from './caller';
export * from './endpoint';
export * from './errors';
export * from './permissions';
export * from './shape';
