import { Findings, verifyEvidence, type EvidenceReport, type VerifyEvidenceOptions } from '@svc/evidence-format';
import { readArchive } from './read-archive';

export type VerifyOptions = VerifyEvidenceOptions;

/** Verifies an evidence bundle. Never throws for what the archive contains. @param archive the bytes of the .tgz file */
export async function verifyArchive(archive: Buffer, options: VerifyOptions = {}): Promise<EvidenceReport> {
  const findings = new Findings();
  const before = findings.faults.length;
  const members = await readArchive(archive, findings);
  findings.checks.push({
    name: 'archive',
    result: findings.faults.length === before ? 'passed' : 'failed',
    detail: `${archive.length} bytes, ${members.length} members`,
  });
  const report = verifyEvidence(members, options, findings);
  return report;
}
