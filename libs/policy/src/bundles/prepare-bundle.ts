import { yamlStructureFault, type Problem } from '@svc/contract';
import { isMap, isScalar, parseDocument, visit, type Document, type Pair } from 'yaml';
import { parsePolicy } from '../document/parse-policy';
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

/**
 * Makes of a sent text the one that is stored: keys without a value are left out, and the YAML is written anew. Comments
 * stay. Preparing what was prepared changes nothing. Policy contract 4.4.
 *
 * @param source bundle id, for problems, whose lines are those of the text as it was sent
 */
export function prepareBundle(text: string, source: string): PreparedBundle {
  const sent = parsePolicy(text, { source, mode: 'write' });
  const content = withoutUnset(text);
  if (content === undefined) return sent.ok ? { ok: false, problems: [broken(source)] } : sent;
  const prepared = parsePolicy(content, { source, mode: 'write' });
  if (prepared.ok) return { ok: true, content, document: prepared.document };
  const left = new Set(prepared.problems.map(({ path }) => path));
  const problems = sent.ok ? prepared.problems : sent.problems.filter(({ path }) => left.has(path));
  return { ok: false, problems: problems.length > 0 ? problems : prepared.problems };
}

const broken = (source: string): Problem => ({
  source, line: 0, column: 0, path: '', message: 'cannot be written anew: write out what its aliases stand for',
}); // prettier-ignore

/** The text written anew; undefined when it is no YAML, or cannot be written without the keys that are left out. */
function withoutUnset(text: string): string | undefined {
  const yaml = readYaml(text);
  // Keys within keys take the writer time without bound.
  if (yaml.errors.length > 0 || !isMap(yaml.contents) || yamlStructureFault(yaml)) return undefined;
  visit(yaml, { Pair: (_, pair) => (isUnset(pair) ? visit.REMOVE : undefined) });
  return writeYaml(yaml);
}

const isUnset = ({ key, value }: Pair): boolean => {
  if (value === null) return true;
  if (!isScalar(value)) return false;
  if (value.value === null) return true;
  return value.value === '' && isScalar(key) && emptyMeansUnset.includes(String(key.value));
};

/** As `parsePolicy` reads it. */
export const readYaml = (text: string): Document => parseDocument(text, { schema: 'core', logLevel: 'error' });

/** The text of a changed document; undefined when an alias in it has lost what it stands for. */
export function writeYaml(yaml: Document): string | undefined {
  try {
    return yaml.toString({ lineWidth: 0 });
  } catch {
    return undefined; // an anchor went with the key it was on
  }
}
