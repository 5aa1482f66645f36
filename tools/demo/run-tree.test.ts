import type { RunView, StepRunView } from '@svc/contract';
import { LiveTree } from './live-tree';
import { drawRun, type Flow, type ShownRun } from './run-tree';

const at = (sec: number) => new Date(sec * 1_000).toISOString();

function given(flow: Flow['steps'], steps: Record<string, Partial<StepRunView>>, more: Partial<RunView> = {}) {
  const whole = Object.entries(steps).map(([id, step]) => [id, { step_id: id, status: 'pending', ...step }]);
  const run = { id: 'r1', status: 'running', error: null, steps: Object.fromEntries(whole) as object, ...more };
  const shown: ShownRun = { run: run as RunView, flow: { steps: flow }, children: new Map(), gates: new Map() };
  return shown;
}
const texts = (shown: ShownRun) => drawRun(shown).map(({ text }) => text.replaceAll(/ +/g, ' '));

describe('a run drawn as a tree', () => {
  it('lists steps in the order of the definition, with nested steps below their parent', () => {
    const flow = { b: { name: 'Both', input: { steps: ['x', 'y'] } }, x: {}, y: {}, a: { input: { body_step: 'z' } }, z: {} }; // prettier-ignore

    expect(texts(given(flow, { x: { status: 'succeeded', job_id: 'r1:x@2', started_at: at(1), completed_at: at(3) } }))).toEqual([
      '▸ run r1 running',
      '├─ · Both pending',
      '│ ├─ ✓ x succeeded job …:x@2, 2000 ms',
      '│ └─ · y pending',
      '└─ · a pending',
      ' └─ · z pending',
    ]); // prettier-ignore
  });

  it('shows why a step failed or was skipped, how many items are done, and what an approval and a timer wait for', () => {
    const items = { 'c[0]': { step_id: 'c[0]', status: 'succeeded', item: 'tea' }, 'c[1]': { step_id: 'c[1]', status: 'failed', item: 'silk', error: { message: 'lost' } } }; // prettier-ignore
    const steps: Record<string, Partial<StepRunView>> = {
      a: { status: 'failed', error: { message: 'no ink' } },
      b: { status: 'skipped', skip_reason: 'condition_false' },
      c: { status: 'failed', children: items },
      d: { status: 'waiting', job_id: 'r1:d@1' },
      e: { status: 'succeeded', job_id: 'r1:e@1', output: { resolved_by: 'ann' } },
      f: { status: 'running' },
    };
    const timers = [{ workflow_id: 'w', run_id: 'r1', step_id: 'f', fires_at: at(9), remaining_ms: 7_200_000 }];
    const shown = given({ a: {}, b: {}, c: {}, d: {}, e: {}, f: {} }, steps, { timers });

    expect(texts({ ...shown, gates: new Map([['r1:d@1', '1 of 2 agreed']]) }).slice(1)).toEqual([
      '├─ ✗ a failed no ink',
      '├─ – b skipped condition false',
      '├─ ✗ c failed 1 of 2',
      '│ ├─ ✓ tea succeeded',
      '│ └─ ✗ silk failed lost',
      '├─ ‖ d waiting job …:d@1, 1 of 2 agreed',
      '├─ ✓ e succeeded job …:e@1, agreed, last by ann',
      '└─ ▸ f running 2 h left',
    ]);
  });

  it('shows the steps of a child run below the step that started it', () => {
    const inner = given({ weigh: {} }, {}, { id: 'r2' });
    const shown = given({ sub: {} }, { sub: { status: 'running', child_run_id: 'r2' } });

    const lines = texts({ ...shown, children: new Map([['r2', inner]]) });

    expect(lines.slice(1)).toEqual(['└─ ▸ sub running run r2', ' └─ · weigh pending']);
  });

  describe('shown', () => {
    const line = (key: string, text = key) => ({ path: 'a', key, text });

    function screen(isTTY: boolean) {
      let written = '';
      const tree = new LiveTree({ isTTY, columns: 12, write: (text) => (written += text) }, () => '5 ms');
      return { tree, written: () => written };
    }

    it('without a terminal: prints a line again only when it changed', () => {
      const { tree, written } = screen(false);
      for (const [key, text] of [['running', '2 s'], ['running', '1 s'], ['done', 'ok']] as const) tree.show([line(key, text)]); // prettier-ignore

      expect(written()).toBe('    5 ms  2 s\n    5 ms  ok\n');
    });

    it('on a terminal: redraws in place, keeps later output, and never exceeds the width', () => {
      const { tree, written } = screen(true);
      tree.show([line('a'), line('b')]);
      tree.show([line('a'), line('far too long')]);
      tree.leave();
      tree.show([line('c')]);

      expect(written()).toBe('    a\n    b\n\u001b[2A\u001b[J    a\n    far too\n    c\n');
    });
  });
});
