import { yamlStructureFaults, yamlTextFault, type Problem } from '@svc/contract';
import { isMap, isScalar, parseDocument, visit, type Document, type Pair } from 'yaml';
import { parsePolicy, readAs } from '../document/parse-policy';
import type { PolicyDocument } from '../document/policy-document';

export type PreparedBundle =
  | {
      ok: true;
      /** The text to store and sign. */
      content: string;
      document: PolicyDocument;
    }
  | { ok: false; problems: Problem[] };

/** Keys that forms submit empty when no choice was made. */
const emptyMeansUnset = ['default_decision', 'default_tenant', 'fail_mode'];
/** Bounds the check to a few seconds. A rule has about a dozen. */
const MAX_VALUES = 20_000;

/**
 * Normalizes a submitted text for storage: keys without a value are removed, and the YAML is formatted again. Comments are
 * kept, except on removed keys. Idempotent.
 * See docs/reference/policy.md#bundles.
 *
 * @param source bundle id for problems, whose lines refer to the submitted text
 */
export function prepareBundle(text: string, source: string): PreparedBundle {
  const written = withoutUnset(text);
  if (written.kind === 'large') return { ok: false, problems: [fault(source, tooLarge)] };
  const sent = parsePolicy(text, { source, mode: 'write' });
  if (written.kind === 'none') return sent.ok ? { ok: false, problems: [fault(source, lostAnchor)] } : sent;
  if (written.left === 0) return sent.ok ? { ...sent, content: written.content } : sent;
  const prepared = parsePolicy(written.content, { source, mode: 'write' });
  if (prepared.ok) return { ...prepared, content: written.content };
  const paths = new Set(prepared.problems.map(({ path }) => path));
  const problems = sent.ok ? prepared.problems : sent.problems.filter(({ path }) => paths.has(path));
  return { ok: false, problems: problems.length > 0 ? problems : prepared.problems };
}

const tooLarge = `has more than ${MAX_VALUES} keys and values: split it into several bundles`;
const lostAnchor = 'cannot be formatted: replace its aliases with their values';
const fault = (source: string, message: string): Problem => ({ source, line: 1, column: 1, path: '', message });

type Written = { kind: 'text'; content: string; left: number } | { kind: 'none' } | { kind: 'large' };

/** The formatted text and the number of removed keys; undefined when it is not YAML, or a removed key holds an anchor. */
function withoutUnset(text: string): Written {
  if (yamlTextFault(text)) return { kind: 'none' };
  const yaml = readYaml(text);
  // Deeply nested keys make the writer's time unbounded.
  if (yaml.errors.length > 0 || !isMap(yaml.contents) || yamlStructureFaults(yaml).length > 0) return { kind: 'none' };
  let values = 0;
  let left = 0;
  visit(yaml, {
    Value: () => (++values > MAX_VALUES ? visit.BREAK : undefined),
    Pair: (_, pair) => {
      if (!isUnset(pair)) return undefined;
      left += 1;
      return visit.REMOVE;
    },
  });
  if (values > MAX_VALUES) return { kind: 'large' };
  const content = writeYaml(yaml);
  return content === undefined ? { kind: 'none' } : { kind: 'text', content, left };
}

const isUnset = ({ key, value }: Pair): boolean => {
  if (value === null) return true;
  if (!isScalar(value)) return false;
  if (value.value === null) return true;
  return value.value === '' && isScalar(key) && emptyMeansUnset.includes(String(key.value));
};

/** With the options of `parsePolicy`. */
export const readYaml = (text: string): Document => parseDocument(text, readAs);

/** The text of a changed document; undefined when an alias in it has lost its anchor. */
export function writeYaml(yaml: Document): string | undefined {
  try {
    return yaml.toString({ lineWidth: 0 });
  } catch {
    return undefined; // the anchor was on a removed key
  }
}
