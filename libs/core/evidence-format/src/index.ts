/** The format of evidence bundles: members, manifest, archive framing and their verification. No I/O. */
export { findFrameFault, FRAME_BYTES, frameGzip, packMembers } from './archive';
export * from './format';
export { describeMember, readPublicKey, signManifest, type Member } from './manifest';
export { isAbout, type ReadEvent } from './verify/check-events';
export { checkNames, Findings, type EvidenceCheck, type EvidenceFault } from './verify/findings';
export { parseJson, readCheckpoint } from './verify/read-members';
export { verifyEvidence, type EvidenceReport, type VerifyEvidenceOptions } from './verify/verify-evidence';
