export { auditExportVariables, readSyslogAddress } from './audit-export';
export { apiEnv, type ApiEnv } from './api';
export { commonVariables } from './common';
export { envSpec, variables, type EnvOf, type EnvSpec, type Rule, type Variable, type Variables } from './declare';
export { envHelp, envReport, envTable } from './describe';
export { engineEnv, type EngineEnv } from './engine';
export { envFindings, exposedListeners, type EnvFinding } from './exposed';
export {
  groupRoles,
  normalizeGroup,
  parseGroupMapping,
  toGroupMapping,
  type GroupMapping,
  type GroupRole,
} from './group-mapping';
export { kernelEnv, type KernelEnv } from './kernel';
export { isOidcOn, type OidcEnv } from './oidc';
export { EnvError, formatProblem, type Problem } from './problem';
export { isProduction, readEnv, type Reading } from './read';
export { isSamlOn, type SamlEnv } from './saml';
export { schedulerEnv, type SchedulerEnv } from './scheduler';
export { findWeakness } from './secret-strength';
export { unavailableControls } from './unavailable-controls';
