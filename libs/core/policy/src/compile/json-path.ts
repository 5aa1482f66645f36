import { isRecord } from '@svc/json';
type Part = { kind: 'key'; key: string } | { kind: 'index'; index: number } | { kind: 'every' };

/** Parses `$.cart.items[*].name`, `cart.items`, `a["odd key"][0]`; undefined when it is not such a path. */
function parts(path: string): Part[] | undefined {
  const text = path.trim().replace(/^\$\.?/, '');
  const list: Part[] = [];
  const step = /\.?(?:([^.[\]"']+)|\[(\d{1,9})\]|\[(\*)\]|\[(?:"([^"]*)"|'([^']*)')\])/y;
  while (step.lastIndex < text.length) {
    const found = step.exec(text);
    if (!found) return undefined;
    const [, name, index, every, double, single] = found;
    if (name === '*' || every) list.push({ kind: 'every' });
    else if (index !== undefined) list.push({ kind: 'index', index: Number(index) });
    else list.push({ kind: 'key', key: name ?? double ?? single ?? '' });
  }
  return list;
}

export const isJsonPath = (path: string): boolean => path.trim() !== '' && parts(path) !== undefined;

/** All values at a path, in order. See docs/reference/policy.md#content-rules. */
export function valuesAt(document: unknown, path: string): unknown[] {
  return (parts(path) ?? []).reduce<unknown[]>(
    (values, part) => values.flatMap((value) => follow(value, part)),
    [document],
  );
}

function follow(value: unknown, part: Part): unknown[] {
  if (part.kind === 'key') return isRecord(value) && Object.hasOwn(value, part.key) ? [value[part.key]] : [];
  if (part.kind === 'every') return Array.isArray(value) ? value : isRecord(value) ? Object.values(value) : [];
  return Array.isArray(value) && part.index < value.length ? [value[part.index]] : [];
}
