export * from './approval.states';
export * from './job.states';
export * from './machine';
