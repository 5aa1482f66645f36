/** Writes of config documents, with the checks and signatures of each kind of document. */
export { configUpkeep } from './config-upkeep';
export { type ConfigWriteDeps, writeConfig } from './write-config';
export { configRoutes, type ConfigContext } from './routes';
