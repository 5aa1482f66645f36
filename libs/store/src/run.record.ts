import { isRunEnded, runStates, type RunEnd, type RunStatus } from '@svc/lifecycle';

/** A JSON object that this library treats as opaque. */
export type JsonObject = Record<string, unknown>;

export type LiveRunStatus = Exclude<RunStatus, RunEnd>;
export const liveRunStatuses = runStates.states.filter((status): status is LiveRunStatus => !isRunEnded(status));

/** Statuses from which a pass may reach this one: itself, and by one or more transitions. */
export function statusesBefore(to: RunStatus): RunStatus[] {
  const before = new Set<RunStatus>([to]);
  // Iterating a set includes elements added during the iteration.
  for (const reached of before) {
    const moves = Object.values(runStates.moves).filter((move) => move.to === reached);
    for (const from of moves.flatMap((move) => move.from)) before.add(from);
  }
  return [...before].filter((status) => !isRunEnded(status));
}

/** A run without its steps. Times in µs. */
export interface RunRecord {
  id: string;
  tenant: string;
  workflow_id: string;
  /** Version of its definition. */
  workflow_version: number;
  team_id?: string;
  status: RunStatus;
  /** Incremented by each save. */
  revision: number;
  created_at: number;
  updated_at: number;
  ended_at?: number;
  /** Cost so far of its jobs and of its child runs: micros (millionths of a US dollar). */
  cost: number;
  /** Further state of the run, owned by the engine. */
  header: JsonObject;
}

export interface LoadedRun {
  run: RunRecord;
  /** By path: `weigh`, or `weigh[2]` for an item of a fan-out. */
  steps: Map<string, JsonObject>;
}

export interface RunTimer {
  member: string;
  dueMs: number;
}

export const parseJson = (text: string): JsonObject => JSON.parse(text) as JsonObject;

/** Parses the hash of a run; undefined if it does not exist. */
export function parseRun(fields: Record<string, string>): RunRecord | undefined {
  const { id, tenant, workflow, status, team, ended_at: endedAt } = fields;
  if (!id || !tenant || !workflow || !status) return undefined;
  return {
    id,
    tenant,
    workflow_id: workflow,
    workflow_version: Number(fields['version']),
    ...(team && { team_id: team }),
    status: status as RunStatus,
    revision: Number(fields['revision']),
    created_at: Number(fields['created_at']),
    updated_at: Number(fields['updated_at']),
    ...(endedAt && { ended_at: Number(endedAt) }),
    cost: Number(fields['cost_spent'] ?? 0),
    header: parseJson(fields['header'] ?? '{}'),
  };
}
