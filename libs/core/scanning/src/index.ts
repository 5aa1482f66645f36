export { builtInDefinitions } from './built-in';
export type { Confidence, PatternDefinition, ScannerDefinition, ScannerDefinitions } from './definitions';
export type { Finding, Severity } from './finding';
export { maskTokens } from './mask-tokens';
export { parseScanners, type ParsedScanners } from './parse-scanners';
export { inOriginal, redact, redactText } from './redact';
export { maxFindings, scan, type ContentPattern, type ScanLimits, type ScanRequest, type ScanResult } from './scan';
export { builtInScanners, compileScanners, type ScannerSet } from './scanner-set';
