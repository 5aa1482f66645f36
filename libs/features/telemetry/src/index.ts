/** Anonymous counts of the installation, sent only with consent. */
export { runTelemetry } from './send-telemetry';
export { TelemetryRepository } from './telemetry.repository';
export { telemetryRoutes, type TelemetryContext } from './routes';
