import fc from 'fast-check';
import { getFaults, harbourIntake, workflow } from './definition.testing';
import { getGraph } from './graph';
import type { StepDefinition } from './workflow';

const graphOfSteps = (steps: Record<string, StepDefinition>) => getGraph({ steps });

/** Steps by number; each waits for some of those before it. */
const acyclic = fc.integer({ min: 2, max: 40 }).chain((size) =>
  fc.tuple(
    ...Array.from({ length: size }, (_, i) => fc.uniqueArray(fc.integer({ min: 0, max: Math.max(0, i - 1) }), { maxLength: i ? 4 : 0 })),
  ),
); // prettier-ignore
const buildSteps = (edges: readonly (readonly number[])[]) =>
  Object.fromEntries(edges.map((deps, i) => [`s${i}`, { topic: 'job.a', depends_on: deps.map((d) => `s${d}`) }]));

describe('the graph of a definition', () => {
  const graph = getGraph(harbourIntake as { steps: Record<string, StepDefinition> });

  it('is built once per definition', () => {
    expect(getGraph(harbourIntake as { steps: Record<string, StepDefinition> })).toBe(graph);
  });

  it('has dependencies before dependents, and every step once', () => {
    expect([...graph.order].sort()).toEqual(Object.keys(harbourIntake.steps).sort());
    for (const id of graph.order) {
      for (const other of graph.dependenciesOf(id)) {
        expect(graph.order.indexOf(other)).toBeLessThan(graph.order.indexOf(id));
      }
    }
  });

  it('has dependencies, error handlers and the sinks that form the run’s output', () => {
    expect(graph.dependentsOf('lane')).toEqual(['harbourmaster', 'settle']);
    expect([...graph.ancestorsOf('stow')].sort()).toEqual(['harbourmaster', 'lane', 'settle', 'tally', 'weigh']);
    expect(graph.handles.get('hold_note')).toEqual(['harbourmaster']);
    expect(graph.sinks).toEqual(['stow']);
  });

  it('replaces owned steps by their owner, and ignores their depends_on', () => {
    const owned = graphOfSteps({
      first: {},
      fan: { type: 'parallel', depends_on: ['first'], input: { steps: ['one', 'rounds'] } },
      one: { depends_on: ['fan'] },
      rounds: { type: 'loop', input: { body_step: 'round' } },
      round: {},
      last: { depends_on: ['fan'] },
    });

    expect(owned.childrenOf.get('fan')).toEqual(['one', 'rounds']);
    expect(owned.ownerOf.get('round')).toBe('rounds');
    expect(owned.dependenciesOf('one')).toEqual([]);
    expect(owned.sinks).toEqual(['last']);
    expect(owned.sees('round', 'first')).toBe(true);
    expect(owned.sees('round', 'one')).toBe(false);
    expect(owned.sees('last', 'round')).toBe(true);
    expect(owned.sees('first', 'fan')).toBe(false);
  });

  it('a handler can read the failed step and its ancestors', () => {
    const handled = graphOfSteps({
      a: {},
      b: { depends_on: ['a'], on_error: 'h' },
      h: {},
      c: { depends_on: ['b'] },
      d: {},
    });

    expect(['a', 'b', 'c', 'd'].filter((id) => handled.sees('h', id))).toEqual(['a', 'b']);
    expect(handled.sees('c', 'h')).toBe(true);
  });

  it('ignores references to unknown steps, and terminates on cycles', () => {
    const broken = graphOfSteps({ a: { depends_on: ['b', 'x', 'a'], on_error: 'y' }, b: { depends_on: ['a'] } });

    expect(broken.dependenciesOf('a')).toEqual(['b']);
    expect([...broken.order].sort()).toEqual(['a', 'b']);
    expect(broken.isAncestor('b', 'b')).toBe(true);
  });
});

describe('of any graph', () => {
  it('without a cycle, the definition passes, and ancestors are the nodes that edges reach', () => {
    fc.assert(
      fc.property(acyclic, (edges) => {
        const steps = buildSteps(edges);
        const reached = (id: string): string[] => {
          const all = new Set<string>();
          const open = [id];
          for (let at = open.pop(); at !== undefined; at = open.pop()) {
            const others = (steps[at]?.depends_on ?? []).filter((other) => !all.has(other));
            for (const other of others) all.add(other);
            open.push(...others);
          }
          return [...all].sort();
        };
        const graph = graphOfSteps(steps);

        expect(getFaults(workflow(steps))).toEqual([]);
        for (const id of Object.keys(steps)) expect([...graph.ancestorsOf(id)].sort()).toEqual(reached(id));
      }),
    );
  });

  it('one back edge is always reported as a cycle that contains both its ends', () => {
    fc.assert(
      fc.property(acyclic, fc.nat(), fc.nat(), (edges, pickStep, pickAncestor) => {
        const steps = buildSteps(edges);
        const withAncestors = Object.keys(steps).filter((id) => graphOfSteps(steps).ancestorsOf(id).length > 0);
        fc.pre(withAncestors.length > 0);
        const id = withAncestors[pickStep % withAncestors.length] ?? '';
        const ancestors = graphOfSteps(steps).ancestorsOf(id);
        const ancestor = ancestors[pickAncestor % ancestors.length] ?? '';
        const own = steps[ancestor];

        const faults = getFaults(
          workflow({ ...steps, [ancestor]: { ...own, depends_on: [...(own?.depends_on ?? []), id] } }),
        );

        expect(faults.length).toBeGreaterThan(0);
        expect(faults.every((fault) => fault.includes('closes a cycle'))).toBe(true);
        expect(faults.join()).toContain(`${ancestor} → ${id}`);
      }),
    );
  });
});

it('any input results in faults or a definition, never an exception', () => {
  const word = fc.constantFrom(
    'type', 'depends_on', 'input', 'steps', 'cases', 'default', 'next', 'match', 'body', 'on_error', 'condition', 'a', 'b',
    'loop', 'parallel', 'switch', 'approval', '${steps.a.output}', '__proto__', 'constructor', 'input_schema', 'retry', 'gate',
  ); // prettier-ignore
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 5 }, word, fc.integer(), fc.constant(null), fc.boolean(), tie('list'), tie('map')),
    list: fc.array(tie('value'), { maxLength: 4 }),
    map: fc.dictionary(word, tie('value'), { maxKeys: 6 }),
  }));

  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom('a', 'b', 'c'), value), value, (steps, output) => {
      expect(() => getFaults(workflow(steps, { output }))).not.toThrow();
    }),
    { numRuns: 500 },
  );
});
