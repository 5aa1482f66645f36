export {
  logLevels,
  openLogger,
  silentLogger,
  type LogFields,
  type Logger,
  type LoggerOptions,
  type LogLevel,
} from './logger';
export { maskObvious, maskValues, type Masker } from './redact';
