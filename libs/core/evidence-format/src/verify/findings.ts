/** A fault of a bundle. Any of them means that the bundle proves nothing beyond the checks that passed. */
export interface EvidenceFault {
  /** Where it is, such as `chain/events.ndjson, line 3`. */
  place: string;
  text: string;
  /** Sequence number of the first affected event. */
  seq?: number;
}

export const checkNames = {
  archive: 'archive framing',
  manifest: 'manifest',
  signature: 'signature of the manifest',
  members: 'hashes of all members',
  events: 'hashes and links of events',
  checkpoints: 'signatures of checkpoints',
  proofs: 'inclusion and consistency proofs',
  anchors: 'anchors given',
  subject: 'events are about the subject',
  installation: 'verification by the installation',
  content: 'hashes of included content',
} as const;
export type CheckName = keyof typeof checkNames;

/** A check, with what it found. */
export interface EvidenceCheck {
  name: CheckName;
  /** `skipped`: an earlier fault, or missing input, prevented it. */
  result: 'passed' | 'failed' | 'skipped';
  detail?: string;
}

const MAX_FAULTS = 1_000;

/** Collects the results of checks. */
export class Findings {
  readonly faults: EvidenceFault[] = [];
  readonly warnings: string[] = [];
  readonly checks: EvidenceCheck[] = [];

  fault(place: string, text: string, seq?: number): void {
    if (this.faults.length < MAX_FAULTS) this.faults.push({ place, text, ...(seq !== undefined && { seq }) });
  }

  warn(text: string): void {
    this.warnings.push(text);
  }

  /** Runs a check; it failed if it added a fault. @param run returns a detail for readers */
  check(name: CheckName, run: () => string | undefined): boolean {
    const before = this.faults.length;
    const detail = run();
    const isPassed = this.faults.length === before;
    this.checks.push({ name, result: isPassed ? 'passed' : 'failed', ...(detail !== undefined && { detail }) });
    return isPassed;
  }

  skip(name: CheckName, detail: string): void {
    this.checks.push({ name, result: 'skipped', detail });
  }
}
