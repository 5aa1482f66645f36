import { isRecord } from '@svc/json';
import { canonicalWord, tiers } from './words';

/** A fault at a path of the document; `key` when the key itself is at fault and not its value. */
export interface Fault {
  path: readonly (string | number)[];
  message: string;
  at?: 'key';
}

const lists = ['rules', 'input_rules', 'output_rules'] as const;
const selectorKeys: Readonly<Record<string, readonly string[]>> = {
  workflow: ['workflow_id'],
  job: ['job_id', 'session_id'],
};

/**
 * Checks across keys: duplicate ids, selectors that do not match their tier, a throttle without its duration. Reads the
 * document as written, so that it also works when a shape is invalid elsewhere.
 * See docs/reference/policy.md#documents.
 */
export function crossChecks(document: Record<string, unknown>, mode: 'write' | 'load'): Fault[] {
  const documentTier = readTier(document['tier']) ?? 'global';
  const faults = selectorFaults(documentTier, document['selector'], ['selector']);
  for (const list of lists) {
    const rules = document[list];
    if (!Array.isArray(rules)) continue;
    const firstAt = new Map<string, number>();
    rules.forEach((rule: unknown, index) => {
      if (!isRecord(rule)) return;
      const path = [list, index];
      const id = typeof rule['id'] === 'string' ? rule['id'] : undefined;
      const first = id === undefined ? undefined : firstAt.get(id);
      if (first !== undefined) {
        faults.push({
          path: [...path, 'id'],
          message: `is the id of ${list}[${first}] already: give each rule its own`,
        });
      } else if (id !== undefined) firstAt.set(id, index);
      if (list !== 'output_rules') faults.push(...tierFaults(rule, path, documentTier, document['selector']));
      if (list === 'rules') faults.push(...throttleFaults(rule, path));
      if (list === 'output_rules') faults.push(...holdFaults(rule, path));
      if (list === 'output_rules' && mode === 'write') faults.push(...redactFaults(rule, path));
    });
  }
  return faults;
}

function holdFaults(rule: Record<string, unknown>, path: Fault['path']): Fault[] {
  if (rule['hold'] !== true || rule['severity'] === 'critical') return [];
  const message = 'goes with severity critical only: results wait for their scan, so say that it is worth it';
  return [{ path: [...path, 'hold'], message, at: 'key' }];
}

function tierFaults(
  rule: Record<string, unknown>,
  path: Fault['path'],
  documentTier: string,
  inherited: unknown,
): Fault[] {
  const tier = rule['tier'] === undefined ? documentTier : readTier(rule['tier']);
  if (tier === undefined) return [];
  if (tiers.findIndex((t) => t === tier) < tiers.findIndex((t) => t === documentTier)) {
    const message = `is wider than the document, whose tier is ${documentTier}: a narrow document cannot rule outside itself`;
    return [{ path: [...path, 'tier'], message }];
  }
  const own = rule['selector'] ?? (tier === documentTier ? inherited : undefined);
  if (rule['selector'] === undefined && tier === documentTier) return [];
  return selectorFaults(tier, own, [...path, 'selector']);
}

function selectorFaults(tier: string, selector: unknown, path: Fault['path']): Fault[] {
  if (tier === 'global') {
    return selector === undefined || selector === null
      ? []
      : [{ path, at: 'key', message: 'goes only with tier workflow or job: name that tier, or remove the selector' }];
  }
  const wanted = selectorKeys[tier] ?? [];
  if (!isRecord(selector)) return [{ path, message: `is missing: tier ${tier} needs ${wanted.join(' or ')} in it` }];
  const foreign = Object.keys(selector).filter((key) => key.endsWith('_id') && !wanted.includes(key));
  const faults: Fault[] = foreign.map((key) => {
    return { path: [...path, key], at: 'key', message: `does not go with tier ${tier}: use ${wanted.join(' or ')}` };
  });
  if (!wanted.some((key) => key in selector)) {
    faults.push({ path, message: `must name ${wanted.join(' or ')}, since its tier is ${tier}` });
  }
  return faults;
}

function throttleFaults(rule: Record<string, unknown>, path: Fault['path']): Fault[] {
  const throttles = typeof rule['decision'] === 'string' && canonicalWord(rule['decision']) === 'throttle';
  if (!throttles || rule['throttle_duration'] !== undefined) return [];
  return [{ path: [...path, 'throttle_duration'], message: 'is missing: decision throttle needs one, such as 30s' }];
}

function redactFaults(rule: Record<string, unknown>, path: Fault['path']): Fault[] {
  const redacts = typeof rule['decision'] === 'string' && canonicalWord(rule['decision']) === 'redact';
  const match = isRecord(rule['match']) ? rule['match'] : {};
  const looks = ['scanners', 'detectors', 'content_patterns'].some(
    (key) => Array.isArray(match[key]) && match[key].length > 0,
  );
  if (!redacts || looks) return [];
  const message = 'must list scanners, detectors or content_patterns, since redact cuts out what they find';
  return [{ path: [...path, 'match'], message }];
}

const readTier = (written: unknown) =>
  typeof written === 'string' ? tiers.find((tier) => tier === canonicalWord(written)) : undefined;
