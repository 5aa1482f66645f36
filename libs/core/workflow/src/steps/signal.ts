import { timedOut, type StepContext, type StepKind } from './kind';

const getSignalName = ({ node }: StepContext): string => node.def.signal ?? node.id;

/** Waits for a signal; one that was received earlier is taken first. */
export const signal: StepKind = {
  begin(at) {
    const { draft, node, path } = at;
    const kept = draft.run.signals.findIndex(({ name }) => name === getSignalName(at));
    if (kept >= 0) {
      const [early] = draft.run.signals.splice(kept, 1);
      draft.note('step_signal_received', { step_id: path });
      return { kind: 'succeeded', output: early?.payload ?? null };
    }
    const { timeout_sec = 0 } = node.def;
    if (timeout_sec > 0) draft.setTimer(path, 'timeout', draft.context.nowMs + timeout_sec * 1_000);
    draft.note('step_waiting', { step_id: path, data: { signal: getSignalName(at) } });
    return { kind: 'waiting' };
  },
  timer: (_at, purpose) => (purpose === 'timeout' ? timedOut('no signal in time') : undefined),
};

/** Whether a step waits for the signal of this name. */
export const awaits = (at: StepContext, name: string): boolean =>
  at.node.type === 'signal' && getSignalName(at) === name && at.draft.peek(at.path)?.status === 'waiting';
