import { definitionLimits } from './limits';
import type { DefinitionFault } from './workflow';

/** Field names and list indexes, from the root. */
export type Path = readonly (string | number)[];

/** `steps.weigh.depends_on[1]`; a name that is not a plain word is in brackets: `steps["a.b"]`. */
export const pathText = (path: Path): string =>
  path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    if (!/^[\w-]+$/.test(part)) return `${text}[${JSON.stringify(part.slice(0, definitionLimits.idChars))}]`;
    return text === '' ? part : `${text}.${part}`;
  }, '');

/** Collects all faults, so that a definition can be fixed in one pass. */
export class Faults {
  private readonly found: { path: Path; fault: DefinitionFault }[] = [];
  private omitted = 0;

  /** @param message lazy: finding the nearest name takes time */
  add(path: Path, message: string | (() => string), place?: { line: number; column: number }): void {
    if (this.found.length >= definitionLimits.maxFaults) return void this.omitted++;
    const text = typeof message === 'string' ? message : message();
    this.found.push({ path, fault: { path: pathText(path), message: text, ...place } });
  }

  get count(): number {
    return this.found.length + this.omitted;
  }

  /** In document order: the workflow's own fields, then each step. */
  list(stepIds: readonly string[]): DefinitionFault[] {
    const places = new Map(stepIds.map((id, index) => [id, index]));
    const rank = ([first, id]: Path) => (first === 'steps' && id !== undefined ? (places.get(String(id)) ?? 0) + 1 : 0);
    const reported = [...this.found].sort((a, b) => rank(a.path) - rank(b.path)).map(({ fault }) => fault);
    return this.omitted === 0
      ? reported
      : [...reported, { path: '', message: `and ${this.omitted} more: fix these first` }];
  }
}
