/** Fixtures that tests of later features share. */
export { plainJob } from './job-record.testing';
