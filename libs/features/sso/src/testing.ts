/** Fixtures shared by the tests of apps. */
export { signInAt, startExampleProvider, type ExampleProvider, type Tamper } from './example-provider.testing';
