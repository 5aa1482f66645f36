/** Verification of evidence bundles without the service that wrote them. */
export { readArchive } from './read-archive';
export { formatReport } from './format-report';
export { runCli, type Terminal } from './run-cli';
export { verifyArchive, type VerifyOptions } from './verify-archive';
