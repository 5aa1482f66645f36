import { limits } from '@svc/contract';
import type { RE2JS } from 're2js';
import { Budget } from './budget';
import { confidenceNumber } from './definitions';
import { severities, type Finding, type Label, type Report } from './finding';
import { FastScan } from './scan-fast';
import { keywordPatterns, scanKeywords } from './scan-keywords';
import { scanSlow, type SlowJob } from './scan-slow';
import type { ScannerSet } from './scanner-set';

/** What to look for: a finding of any listed scanner, finding type, pattern or keyword counts. */
export interface ScanRequest {
  /** Names of scanners; `code_injection` is another name of `injection`. */
  scanners?: readonly string[];
  /** Finding types; `custom` is every type but secret_leak, pii and code_injection. */
  detectors?: readonly string[];
  patterns?: readonly ContentPattern[];
  /** Plain words, found in upper and lower case, within other words too. */
  keywords?: readonly string[];
}

export interface ContentPattern {
  /** Shown in findings; without it the pattern's place in the list, from 1. */
  name?: string;
  source: string;
  regex: RE2JS;
}

export interface ScanLimits {
  /** Bytes beyond are not scanned; 2 MiB. */
  maxBytes?: number;
  /** Asked after every 64 KiB of work; true ends the scan. Without it a scan takes what time it takes. */
  expired?: () => boolean;
}

export interface ScanResult {
  /** By offset. */
  findings: Finding[];
  scannedBytes: number;
  /** Only the first part was scanned. */
  truncated: boolean;
  /** The time was up before the scan was done: what was found stands, the rest is not known. */
  overrun: boolean;
}

/** Beyond this many, the last finding stands for all that follows, so that a redacted copy loses it too. */
export const maxFindings = 1_000;
/** A body with more than these is not looked at any further: one finding covers all of it. */
const maxCollected = 20_000;
const commonTypes = new Set(['secret_leak', 'pii', 'code_injection']);

/**
 * Looks into a body. Offsets are bytes of the raw body, whatever its encoding. Wire contract 18.3, policy contract 3.6.
 *
 * A finding is found wherever it stands. Only a match of a file's or a rule's pattern that is longer than 8 KiB may be
 * found in part, or not, where two windows meet.
 */
export function scan(
  body: Uint8Array,
  request: ScanRequest,
  set: ScannerSet,
  { maxBytes = limits.scanBytes, expired = () => false }: ScanLimits = {},
): ScanResult {
  const part = body.subarray(0, maxBytes);
  // One character a byte: positions in the text are positions in the body.
  const text = Buffer.from(part.buffer, part.byteOffset, part.length).toString('latin1');
  const budget = new Budget(expired);
  const findings: Finding[] = [];
  const isFull = () => findings.length >= maxCollected;
  const report: Report = (label, offset, length) => {
    findings.push({ ...label, offset, length });
    return !isFull();
  };

  const wanted = wantedBy(request);
  const isWanted = ({ label }: { label: Label }) => wanted(label);
  new FastScan(set, isWanted, part, text, report, budget).run();
  const jobs = { ofSet: set.slow.filter(isWanted), ofRequest: requestedJobs(request) };
  if (!isFull()) scanSlow(part, text, jobs, set, report, budget);
  if (!isFull()) scanKeywords(text, request.keywords ?? [], report, budget);
  return {
    findings: isFull() ? [coverAll(findings, part.length)] : capped(findings.sort(byPlace), part.length),
    scannedBytes: part.length,
    truncated: body.length > part.length,
    overrun: budget.overrun,
  };
}

const byPlace = (a: Finding, b: Finding) => a.offset - b.offset || b.length - a.length;

/** Keeps the first ones; the last of them is stretched over everything behind it. */
function capped(findings: Finding[], bytes: number): Finding[] {
  if (findings.length <= maxFindings) return findings;
  const rest = findings.slice(maxFindings - 1);
  const offset = rest[0]?.offset ?? 0;
  const worst = worstOf(rest);
  return [...findings.slice(0, maxFindings - 1), { ...worst, detail: tooMany, offset, length: bytes - offset }];
}

const tooMany = 'too many findings: all that follows counts as found';
const coverAll = (findings: readonly Finding[], bytes: number): Finding => ({
  ...worstOf(findings),
  detail: tooMany,
  offset: 0,
  length: bytes,
});

const worstOf = (findings: readonly Finding[]): Finding =>
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
