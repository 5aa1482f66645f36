import { timedOut, type At, type Kind } from './kind';

const nameOf = ({ node }: At): string => node.def.signal ?? node.id;

/** Waits for a message from outside; one that came before anybody waited is taken first. */
export const signal: Kind = {
  begin(at) {
    const { draft, node, path } = at;
    const kept = draft.run.signals.findIndex(({ name }) => name === nameOf(at));
    if (kept >= 0) {
      const [early] = draft.run.signals.splice(kept, 1);
      draft.note('step_signal_received', { step_id: path });
      return { kind: 'succeeded', output: early?.payload ?? null };
    }
    const { timeout_sec = 0 } = node.def;
    if (timeout_sec > 0) draft.setTimer(path, 'timeout', draft.around.nowMs + timeout_sec * 1_000);
    draft.note('step_waiting', { step_id: path, data: { signal: nameOf(at) } });
    return { kind: 'waiting' };
  },
  timer: (_at, purpose) => (purpose === 'timeout' ? timedOut('the signal did not come in time') : undefined),
};

/** Whether a step waits for the signal of this name. */
export const awaits = (at: At, name: string): boolean =>
  at.node.type === 'signal' && nameOf(at) === name && at.draft.peek(at.path)?.status === 'waiting';
