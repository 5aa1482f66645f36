export * from './approval.states';
export * from './effect.states';
export * from './eval-run.states';
export * from './job.states';
export * from './machine';
export * from './pool.states';
export * from './run.states';
export * from './step.states';
