import { AppError, submitJob as endpoint } from '@svc/contract';
import { unary } from '@svc/grpc';
import { parseJson } from '@svc/http';
import { submitJob as submit } from '@svc/jobs';
import type { ApiContext } from '../context';
import { admission, reporting, type GateOptions } from './admission';

interface SubmitJobRequest extends Record<string, unknown> {
  idempotency_key: string;
  labels: Record<string, string>;
  /** JSON text in UTF-8. */
  context: Uint8Array;
}

interface SubmitJobResponse {
  job_id: string;
  trace_id: string;
  status: '' | 'submitted' | 'approval_required';
  reason: string;
}

/** The REST submission over gRPC. See docs/reference/http.md#grpc. */
export function submitJob(ctx: ApiContext, options: GateOptions) {
  const admit = admission(endpoint, options);
  return unary<SubmitJobRequest, SubmitJobResponse>(async (request, call) => {
    const { jobId, traceId, approvalReason } = await reporting(endpoint, options, async () => {
      const { caller, body } = await admit(call, { body: toBody(request) });
      return submit(ctx.submit, caller, body, {
        idempotencyKey: call.metadata('idempotency-key') || body.idempotency_key,
        agentId: call.metadata('x-agent-id') || undefined,
      });
    });
    const status = approvalReason === undefined ? 'submitted' : 'approval_required';
    return { job_id: jobId, trace_id: traceId, status, reason: approvalReason ?? '' };
  });
}

/** The REST body of a message, without proto3 defaults of unset fields. */
function toBody({ context, ...fields }: SubmitJobRequest): object {
  return { ...withoutDefaults(fields), ...(context.length > 0 && { context: parsed(context) }) };
}

/** Without unset fields, also of the messages inside. */
const withoutDefaults = (fields: object): object =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]: [string, unknown]) => {
      if (isDefault(value)) return [];
      const isMessage = typeof value === 'object' && !Array.isArray(value) && name !== 'labels';
      return [[name, isMessage ? withoutDefaults(value as object) : value]];
    }),
  );

const isDefault = (value: unknown): boolean =>
  value === '' || value === 0 || value === null || (Array.isArray(value) && value.length === 0);

/** Applies the rules of a REST body, since readers of the job rely on them. */
function parsed(bytes: Uint8Array): unknown {
  try {
    return parseJson(bytes);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new AppError('invalid_body', { error: 'context is not JSON text of at most 64 levels' });
  }
}
