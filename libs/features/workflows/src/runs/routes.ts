import * as contract from '@svc/contract';
import { answer, handlersFor } from '@svc/http';
import type { WaitDeps } from '@svc/jobs';
import type { ActingDeps } from '@svc/agents';
import type { DryRunDeps } from '../definitions/dry-run';
import { cancelRun } from './cancel-run';
import { findRunAgent } from './run-agent';
import { awaitRunEnd, listRuns, runsOfWorkflow, runTimeline } from './read-runs';
import { removeRun } from './remove-run';
import { rerunRun } from './rerun-run';
import { type ChatDeps, readChat, postChatMessage } from './run-chat';
import { signalRun } from './signal-run';
import { startRun } from './start-run';

/** Dependencies of these handlers. */
export interface RunContext {
  runs: ChatDeps & DryRunDeps & Pick<WaitDeps, 'endings'> & { agents: ActingDeps };
}

const handle = handlersFor<RunContext>();

/** Workflow runs. */
export const runRoutes = [
  handle(contract.startRun, async ({ params, query, body, header, requestId, caller, ctx }) => {
    const keys = [
      header('Idempotency-Key'),
      header('X-Idempotency-Key'),
      query.idempotency_key,
      query['idempotency-key'],
    ];
    const idempotencyKey = keys.find((given) => given !== undefined && given !== '');
    const agentId = await findRunAgent(ctx.runs.agents, caller, header('X-Agent-Id'));
    const { runId, replayed } = await startRun(ctx.runs, caller, {
      workflowId: params.id,
      input: body,
      dryRun: query.dry_run,
      requestId,
      ...(query.org_id && { orgId: query.org_id }),
      ...(query.team_id && { teamId: query.team_id }),
      ...(idempotencyKey !== undefined && { idempotencyKey }),
      ...(agentId !== undefined && { agentId }),
    });
    return answer(
      { run_id: runId },
      { headers: { 'X-Trace-Id': runId, ...(replayed && { 'Idempotency-Replayed': 'true' }) } },
    );
  }),
  handle(contract.runsOfWorkflow, ({ params, caller, ctx }) => runsOfWorkflow(ctx.runs, caller, params.id)),
  handle(contract.listRuns, ({ query, caller, ctx }) => listRuns(ctx.runs, caller, query)),
  handle(contract.getRun, ({ params, query, caller, ctx }) => awaitRunEnd(ctx.runs, caller, params.id, query.wait_ms)),
  handle(contract.runTimeline, ({ params, query, caller, ctx }) =>
    runTimeline(ctx.runs, caller, params.id, query.limit),
  ),
  handle(contract.removeRun, ({ params, caller, ctx }) => removeRun(ctx.runs, caller, params.id)),
  handle(contract.rerunRun, async ({ params, body, header, requestId, caller, ctx }) => {
    const agentId = await findRunAgent(ctx.runs.agents, caller, header('X-Agent-Id'));
    const runId = await rerunRun(ctx.runs, caller, {
      runId: params.id,
      dryRun: body.dry_run,
      requestId,
      ...(body.from_step && { fromStep: body.from_step }),
      ...(agentId !== undefined && { agentId }),
    });
    return answer({ run_id: runId }, { headers: { 'X-Trace-Id': runId } });
  }),
  handle(contract.cancelRun, ({ params, query, caller, ctx }) =>
    cancelRun(ctx.runs, caller, { workflowId: params.id, runId: params.run_id, compensate: query.compensate }),
  ),
  handle(contract.readChat, ({ params, query, caller, ctx }) => readChat(ctx.runs, caller, params.id, query)),
  handle(contract.postChatMessage, ({ params, body, caller, ctx }) =>
    postChatMessage(ctx.runs, caller, params.id, body),
  ),
  handle(contract.sendSignal, ({ params, body, caller, ctx }) =>
    signalRun(ctx.runs, caller, {
      runId: params.id,
      name: params.name,
      id: body.signal_id,
      ...(body.payload !== undefined && { payload: body.payload }),
    }),
  ),
];
