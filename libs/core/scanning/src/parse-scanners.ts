import { readYamlDocument, shape, type Problem } from '@svc/contract';
import Joi from 'joi';
import { builtInDefinitions } from './built-in';
import {
  confidences,
  findingTypes,
  type PatternDefinition,
  type ScannerDefinition,
  type ScannerDefinitions,
} from './definitions';
import { severities } from './finding';
import { regexFault } from './regex-fault';
import { compileScanners, type ScannerSet } from './scanner-set';

interface ScannersFile {
  version: 'v1';
  scanners: ScannerDefinitions;
}

const regex = Joi.string()
  .min(1)
  .custom((source: string, helpers) => {
    const fault = regexFault(source);
    return fault === undefined ? source : helpers.message({ custom: `{{#label}} ${fault}` });
  });
const name = Joi.string().pattern(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/, 'letters, digits, `_`, `-` and `.`');

const pattern = shape<PatternDefinition>({
  required: {
    name,
    regex,
    severity: Joi.valid(...severities),
    confidence: Joi.valid(...confidences),
    context_required: Joi.boolean().default(false),
  },
});
const scanner = shape<ScannerDefinition>({
  required: {
    finding_type: Joi.valid(...findingTypes),
    patterns: Joi.array().items(pattern).min(1).max(500).unique('name'),
  },
});
const file = shape<ScannersFile>({
  required: { version: Joi.valid('v1'), scanners: Joi.object().pattern(name, scanner).min(1) },
});

export type ParsedScanners = { ok: true; scanners: ScannerSet } | { ok: false; problems: Problem[] };

/**
 * Parses a scanner definitions file and returns all problems with line and column. The caller caps the size. Scanners that
 * are missing from the file keep their built-in definition, so that rules about them keep working. See docs/scanning.md.
 */
export function parseScanners(text: string, { source }: { source: string }): ParsedScanners {
  const parsed = readYamlDocument(text, source, file);
  if (!parsed.ok) return parsed;
  const { injection, code_injection: alias, ...others } = parsed.value.scanners;
  if (injection && alias) {
    const message = 'injection and code_injection are two names of one scanner: keep one of them';
    return { ok: false, problems: [{ source, line: 0, column: 0, path: 'scanners', message }] };
  }
  const named = injection ?? alias;
  return {
    ok: true,
    scanners: compileScanners({ ...builtInDefinitions, ...others, ...(named && { injection: named }) }),
  };
}
