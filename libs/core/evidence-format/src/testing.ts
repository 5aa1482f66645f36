/** Bundles for tests. */
export { givenEvidence, packBundle, signMembers, type GivenEvidence } from './given-evidence.testing';
