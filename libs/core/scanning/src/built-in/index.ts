import type { BuiltInPattern, PatternDefinition, ScannerDefinition, ScannerDefinitions } from '../definitions';
import { injectionPatterns } from './injection';
import { piiPatterns } from './pii';
import { secretPatterns } from './secret';

interface BuiltInScanner extends ScannerDefinition {
  patterns: readonly BuiltInPattern[];
}

const tables: Readonly<Record<string, BuiltInScanner>> = {
  secret: { finding_type: 'secret_leak', patterns: secretPatterns },
  pii: { finding_type: 'pii', patterns: piiPatterns },
  injection: { finding_type: 'code_injection', patterns: injectionPatterns },
};

const plain = ({ name, regex, severity, confidence, context_required }: PatternDefinition): PatternDefinition => ({
  name,
  regex,
  severity,
  confidence,
  context_required,
});

/** The built-in scanners; config/output_scanners.yaml declares the same. */
export const builtInDefinitions: ScannerDefinitions = Object.fromEntries(
  Object.entries(tables).map(([scanner, { finding_type, patterns }]) => [
    scanner,
    { finding_type, patterns: patterns.map(plain) },
  ]),
);

/** The built-in pattern with this exact text, which is known to be safe in V8's engine. */
export const builtInPattern = (scanner: string, name: string, regex: string): BuiltInPattern | undefined =>
  tables[scanner]?.patterns.find((pattern) => pattern.name === name && pattern.regex === regex);
