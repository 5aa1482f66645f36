/** Config documents and the effective config of a tenant, team, workflow and step. */
export { announceChange, type AnnounceDeps } from './announce-change';
export { type BoundarySettings, routingRules } from './boundary';
export {
  type ConfigRules,
  defaultPlace,
  isDefault,
  isTenants,
  getDocumentPlace,
  requireReplaceable,
  requireWritable,
} from './config-place';
export {
  type Change,
  type ChangeDeps,
  changeDocument,
  type DocumentPlace,
  readDocument,
  type Replace,
  successor,
} from './documents';
export {
  type ConfigPlace,
  EffectiveConfig,
  failMode,
  type FailMode,
  numberAt,
  section,
  turnCost,
} from './effective-config';
export { readConfig, readEffective } from './read-config';
