/** Fixtures shared by the tests of later features. */
export { useConfig } from './config.testing';
