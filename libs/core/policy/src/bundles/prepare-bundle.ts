import { yamlStructureFaults, yamlTextFault, type Problem } from '@svc/contract';
import { isMap, isScalar, parseDocument, visit, type Document, type Pair } from 'yaml';
import { parsePolicy, readAs } from '../document/parse-policy';
import type { PolicyDocument } from '../document/policy-document';

export type PreparedBundle =
  | {
      ok: true;
      /** What is stored and signed. */
      content: string;
      document: PolicyDocument;
    }
  | { ok: false; problems: Problem[] };

/** Keys that forms send empty when nothing was chosen. */
const emptyMeansUnset = ['default_decision', 'default_tenant', 'fail_mode'];
/** Checking takes a few seconds at worst then. A rule is a dozen. */
const mostValues = 20_000;

/**
 * Makes of a sent text the one that is stored: keys without a value are left out, and the YAML is written anew. Comments
 * stay, but for those on keys that go. Preparing what was prepared changes nothing.
 * See docs/reference/policy.md#bundles.
 *
 * @param source bundle id, for problems, whose lines are those of the text as it was sent
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

const tooLarge = `has more than ${mostValues} keys and values: split it into several bundles`;
const lostAnchor = 'cannot be written anew: write out what its aliases stand for';
const fault = (source: string, message: string): Problem => ({ source, line: 1, column: 1, path: '', message });

type Written = { kind: 'text'; content: string; left: number } | { kind: 'none' } | { kind: 'large' };

/** The text written anew, and how many keys were left out; none when it is no YAML, or cannot be written without them. */
function withoutUnset(text: string): Written {
  if (yamlTextFault(text)) return { kind: 'none' };
  const yaml = readYaml(text);
  // Keys within keys take the writer time without bound.
  if (yaml.errors.length > 0 || !isMap(yaml.contents) || yamlStructureFaults(yaml).length > 0) return { kind: 'none' };
  let values = 0;
  let left = 0;
  visit(yaml, {
    Value: () => (++values > mostValues ? visit.BREAK : undefined),
    Pair: (_, pair) => {
      if (!isUnset(pair)) return undefined;
      left += 1;
      return visit.REMOVE;
    },
  });
  if (values > mostValues) return { kind: 'large' };
  const content = writeYaml(yaml);
  return content === undefined ? { kind: 'none' } : { kind: 'text', content, left };
}

const isUnset = ({ key, value }: Pair): boolean => {
  if (value === null) return true;
  if (!isScalar(value)) return false;
  if (value.value === null) return true;
  return value.value === '' && isScalar(key) && emptyMeansUnset.includes(String(key.value));
};

/** As `parsePolicy` reads it. */
export const readYaml = (text: string): Document => parseDocument(text, readAs);

/** The text of a changed document; undefined when an alias in it has lost what it stands for. */
export function writeYaml(yaml: Document): string | undefined {
  try {
    return yaml.toString({ lineWidth: 0 });
  } catch {
    return undefined; // an anchor went with the key it was on
  }
}
