export { apiEnv, type ApiEnv } from './api';
export { commonVariables } from './common';
export { envSpec, variables, type EnvOf, type EnvSpec, type Rule, type Variable, type Variables } from './declare';
export { envHelp, envReport, envTable } from './describe';
export { engineEnv, type EngineEnv } from './engine';
export { kernelEnv, type KernelEnv } from './kernel';
export { EnvError, formatProblem, type Problem } from './problem';
export { isProduction, readEnv, type Reading } from './read';
export { schedulerEnv, type SchedulerEnv } from './scheduler';
