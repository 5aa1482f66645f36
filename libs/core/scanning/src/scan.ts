import { limits } from '@svc/contract';
import type { RE2JS } from 're2js';
import { Budget } from './budget';
import { confidenceNumber } from './definitions';
import { severities, type Finding, type Label, type Report } from './finding';
import { FastScan } from './scan-fast';
import { keywordPatterns, scanKeywords } from './scan-keywords';
import { scanSlow, type SlowJob } from './scan-slow';
import type { ScannerSet, SlowPattern } from './scanner-set';
import { undisguised } from './views/disguise';
import { levelled } from './views/level';
import type { View } from './views/view';
import { unwrapped } from './views/wrapped';

/** What to find: a finding of any listed scanner, finding type, pattern or keyword counts. */
export interface ScanRequest {
  /** Names of scanners; `code_injection` is another name of `injection`. */
  scanners?: readonly string[];
  /** Finding types; `custom` is every type but secret_leak, pii and code_injection. */
  detectors?: readonly string[];
  patterns?: readonly ContentPattern[];
  /** Plain words, case-insensitive, also within words. */
  keywords?: readonly string[];
}

export interface ContentPattern {
  /** Name in findings; default: the pattern's position in the list, from 1. */
  name?: string;
  source: string;
  regex: RE2JS;
}

export interface ScanLimits {
  /** Bytes beyond this are not scanned; 2 MiB. */
  maxBytes?: number;
  /** Called after every 64 KiB of work; true stops the scan. Without it the scan has no deadline. */
  expired?: () => boolean;
}

export interface ScanResult {
  /** By offset. */
  findings: Finding[];
  scannedBytes: number;
  /** Only the first part was scanned. */
  truncated: boolean;
  /** The deadline passed before the scan was done: its findings are valid but incomplete. */
  overrun: boolean;
}

/** Beyond this many, the last finding covers the rest of the body, so that a redacted copy loses it too. */
export const maxFindings = 1_000;
/** A body with more than these is not scanned further: one finding covers all of it. */
const maxCollected = 20_000;
const commonTypes = new Set(['secret_leak', 'pii', 'code_injection']);

/**
 * Scans a body. Offsets are bytes of the raw body, whatever its encoding.
 * See docs/reference/policy.md#output-policy.
 *
 * Findings at any position are reported. Only a match longer than 8 KiB of a file's or a rule's pattern may be found in
 * part, or not at all, where two windows meet.
 */
export function scan(
  body: Uint8Array,
  request: ScanRequest,
  set: ScannerSet,
  { maxBytes = limits.scanBytes, expired = () => false }: ScanLimits = {},
): ScanResult {
  const part = body.subarray(0, maxBytes);
  // One character per byte: positions in the text are positions in the body.
  const text = Buffer.from(part.buffer, part.byteOffset, part.length).toString('latin1');
  const budget = new Budget(expired);
  const findings: Finding[] = [];
  const look = new ScanRun(request, set, findings, budget);
  look.atBody(part, text);
  return {
    findings: look.isFull()
      ? [coverAll(findings, part.length)]
      : capped(look.sawMore ? merged(findings) : findings.sort(byPlace), part.length),
    scannedBytes: part.length,
    truncated: body.length > part.length,
    overrun: budget.overrun,
  };
}

/** Scans a body and its decoded views for everything that a request wants. */
class ScanRun {
  /** Reports a finding in a view of the body, which the body itself may have shown already. */
  sawMore = false;
  private readonly isWanted: (pattern: { label: Label }) => boolean;
  private readonly jobs: { ofSet: readonly SlowPattern[]; ofRequest: readonly SlowJob[] };

  constructor(
    private readonly request: ScanRequest,
    private readonly set: ScannerSet,
    private readonly findings: Finding[],
    private readonly budget: Budget,
  ) {
    const wanted = wantedBy(request);
    this.isWanted = ({ label }) => wanted(label);
    this.jobs = { ofSet: set.slow.filter(this.isWanted), ofRequest: requestedJobs(request) };
  }

  isFull(): boolean {
    return this.findings.length >= maxCollected;
  }

  atBody(body: Uint8Array, text: string): void {
    const level = levelled(text);
    const bodyOfLevel = level === text ? body : Buffer.from(level, 'latin1');
    const report = this.reportAt((offset, length) => ({ offset, length }));
    this.fast(bodyOfLevel, level, report);
    this.slow(body, text, report);
    if (level !== text) {
      // A custom pattern may match the escape itself, or the text after it.
      this.sawMore = true;
      this.slow(bodyOfLevel, level, report);
    }
    this.inView(undisguised(bodyOfLevel, level, this.budget));
    if (!this.budget.overrun) this.inView(unwrapped(bodyOfLevel, level, this.budget));
  }

  private inView(view: View | undefined): void {
    if (!view || this.budget.overrun) return;
    const before = this.findings.length;
    const report = this.reportAt((offset, length) => view.place(offset, length));
    this.fast(view.body, view.text, report);
    this.slow(view.body, view.text, report);
    this.sawMore ||= this.findings.length > before;
  }

  private fast(body: Uint8Array, text: string, report: Report): void {
    if (!this.isFull()) new FastScan(this.set, this.isWanted, body, text, report, this.budget).run();
  }

  private slow(body: Uint8Array, text: string, report: Report): void {
    if (!this.isFull()) scanSlow(body, text, this.jobs, this.set, report, this.budget);
    if (!this.isFull()) scanKeywords(text, this.request.keywords ?? [], report, this.budget);
  }

  private reportAt(place: View['place']): Report {
    return (label, offset, length) => {
      const at = place(offset, length);
      if (at) this.findings.push({ ...label, ...at });
      return !this.isFull();
    };
  }
}

/** By position; duplicates of one pattern at one position, in the body and in a view, are merged. */
function merged(findings: readonly Finding[]): Finding[] {
  const last = new Map<string, Finding>();
  const kept: Finding[] = [];
  for (const finding of [...findings].sort(byPlace)) {
    const { scanner, matched_pattern, offset, length } = finding;
    const key = `${scanner} ${matched_pattern}`;
    const before = last.get(key);
    if (before && offset < before.offset + before.length) {
      before.length = Math.max(before.length, offset + length - before.offset);
      continue;
    }
    last.set(key, finding);
    kept.push(finding);
  }
  return kept;
}

/** Ties by name, so that the order does not depend on the engine. */
const byPlace = (a: Finding, b: Finding) =>
  a.offset - b.offset || b.length - a.length || (a.matched_pattern < b.matched_pattern ? -1 : 1);

/** Keeps the first ones; the last of them is extended over the rest. */
function capped(findings: Finding[], bytes: number): Finding[] {
  if (findings.length <= maxFindings) return findings;
  const rest = findings.slice(maxFindings - 1);
  const offset = rest[0]?.offset ?? 0;
  const worst = findMostSevere(rest);
  return [...findings.slice(0, maxFindings - 1), { ...worst, detail: tooMany, offset, length: bytes - offset }];
}

const tooMany = 'too many findings: all that follows counts as found';
const coverAll = (findings: readonly Finding[], bytes: number): Finding => ({
  ...findMostSevere(findings),
  detail: tooMany,
  offset: 0,
  length: bytes,
});

const findMostSevere = (findings: readonly Finding[]): Finding =>
  findings.reduce((worst, each) =>
    severities.indexOf(each.severity) > severities.indexOf(worst.severity) ? each : worst,
  );

function requestedJobs({ patterns = [], keywords = [] }: ScanRequest): SlowJob[] {
  const ofPatterns = patterns.map(({ name, regex }, index) => ({
    label: { ...patternLabel, matched_pattern: name ?? `pattern_${index + 1}` },
    regex,
  }));
  return [...ofPatterns, ...keywordPatterns(keywords)];
}

const patternLabel: Label = {
  type: 'content_pattern_match',
  severity: 'high',
  detail: 'matches a content pattern of the rule',
  scanner: '',
  confidence: confidenceNumber.high,
  matched_pattern: '',
};

function wantedBy({ scanners = [], detectors = [] }: ScanRequest): (label: Label) => boolean {
  const names = new Set(scanners.map((name) => (name === 'code_injection' ? 'injection' : name)));
  const types = new Set(detectors.map((type) => (type === 'injection' ? 'code_injection' : type)));
  return ({ scanner, type }) =>
    names.has(scanner) || types.has(type) || (types.has('custom') && !commonTypes.has(type));
}
