import type { StepDefinition } from '../definition/workflow';
import { failed, type StepKind } from './kind';

/** Waits for a duration or until a time. See docs/reference/workflows.md#steps. */
export const delay: StepKind = {
  begin({ draft, node, path }) {
    const { nowMs } = draft.context;
    const untilMs = getWakeTime(node.def, nowMs);
    if (untilMs === undefined || Number.isNaN(untilMs)) {
      const message = untilMs === undefined ? 'delay names no time' : 'delay_until is no RFC 3339 time';
      draft.note('step_delay_failed', { step_id: path, message });
      return failed(message);
    }
    draft.note('step_delay_started', { step_id: path, data: { until_ms: untilMs } });
    if (untilMs > nowMs) {
      draft.setTimer(path, 'delay', untilMs);
      return { kind: 'running' };
    }
    draft.note('step_delay_completed', { step_id: path });
    return { kind: 'succeeded' };
  },
  timer({ draft, path }, purpose) {
    if (purpose !== 'delay') return undefined;
    draft.note('step_delay_completed', { step_id: path });
    return { kind: 'succeeded' };
  },
};

function getWakeTime({ delay_sec, delay_until, timeout_sec }: StepDefinition, nowMs: number): number | undefined {
  if (delay_sec !== undefined) return nowMs + delay_sec * 1_000;
  if (delay_until !== undefined) return Date.parse(delay_until);
  return timeout_sec === undefined ? undefined : nowMs + timeout_sec * 1_000;
}
