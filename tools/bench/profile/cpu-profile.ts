/** The result of `Profiler.stop`, reduced to the fields used here. */
export interface CpuProfile {
  nodes: ProfileNode[];
  samples: number[];
  timeDeltas: number[];
}

interface ProfileNode {
  id: number;
  callFrame: { functionName: string; url: string; lineNumber: number; columnNumber: number };
  children?: number[];
}

/** Location of a function: its package (or library of this repository), file and line. */
export interface FunctionLocation {
  group: string;
  file: string;
}

/** Resolves a generated position to its source. Line and column count from 0. */
export type Locate = (url: string, line: number, column: number) => FunctionLocation;

export interface Share {
  name: string;
  /** Self time, ms. */
  selfMs: number;
}

export interface ProfileSummary {
  totalMs: number;
  idleMs: number;
  /** Self time by package; time in Node and the engine is attributed to the calling package. */
  byCaller: Share[];
  /** Self time by package; Node and the engine are listed separately. */
  byPackage: Share[];
  functions: Share[];
}

/** Groups the self time of a profile. Functions of the engine and of Node belong to no package. */
export function summarize({ nodes, samples, timeDeltas }: CpuProfile, locate: Locate): ProfileSummary {
  const selfUs = new Map<number, number>();
  samples.forEach((id, i) => selfUs.set(id, (selfUs.get(id) ?? 0) + (timeDeltas[i] ?? 0)));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const places = new Map(nodes.map((node) => [node.id, locateFunction(node, locate)]));
  const callers = new Map<number, string>();
  const getCaller = (id: number): string => {
    const known = callers.get(id);
    if (known !== undefined) return known;
    const own = places.get(id)?.group ?? engine;
    const parent = parents.get(id);
    const caller = isNode(own) && parent !== undefined ? getCaller(parent) : own;
    callers.set(id, caller);
    return caller;
  };

  const byCaller = new Map<string, number>();
  const byPackage = new Map<string, number>();
  const functions = new Map<string, number>();
  const add = (to: Map<string, number>, name: string, us: number) => to.set(name, (to.get(name) ?? 0) + us);
  let idleUs = 0;
  let totalUs = 0;
  for (const { id, callFrame } of nodes) {
    const us = selfUs.get(id) ?? 0;
    totalUs += us;
    if (callFrame.functionName === '(idle)') {
      idleUs += us;
      continue;
    }
    const { group, file } = places.get(id) ?? { group: engine, file: '' };
    add(byPackage, group, us);
    add(byCaller, getCaller(id), us);
    add(functions, `${callFrame.functionName || '(anonymous)'}  ${file || group}`, us);
  }
  return {
    totalMs: totalUs / 1_000,
    idleMs: idleUs / 1_000,
    byCaller: largestFirst(byCaller),
    byPackage: largestFirst(byPackage),
    functions: largestFirst(functions),
  };
}

const engine = '(engine)';
const isNode = (group: string) => group === engine || group.startsWith('node:');

function locateFunction({ callFrame }: ProfileNode, locate: Locate): FunctionLocation {
  const { functionName, url, lineNumber, columnNumber } = callFrame;
  if (functionName === '(garbage collector)') return { group: '(garbage collector)', file: '' };
  if (url === '') return { group: engine, file: '' };
  if (url.startsWith('node:')) return { group: url, file: url };
  return locate(url, lineNumber, columnNumber);
}

const largestFirst = (times: ReadonlyMap<string, number>): Share[] =>
  [...times].map(([name, us]) => ({ name, selfMs: us / 1_000 })).sort((a, b) => b.selfMs - a.selfMs);
