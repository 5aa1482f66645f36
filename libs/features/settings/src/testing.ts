/** Fixtures that tests of later features share. */
export { useConfig } from './config.testing';
