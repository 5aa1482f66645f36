/** The state of the installation, for operators. */
export { readStatus, type StatusDeps } from './read-status';
export { statusRoutes, type StatusContext } from './routes';
