import { identityErrors } from './identity-errors';

/**
 * Every error that a caller can get: its code, HTTP status and public text. Texts state the problem; details of one
 * request go into the extras of the error body.
 */
export const errorCodes = {
  ...identityErrors,
  // requests
  invalid_json: { status: 400, text: 'the request body is not valid JSON, or has fields this route does not know' },
  invalid_body: { status: 400, text: 'the request is not valid' },
  prompt_is_required: { status: 400, text: 'prompt is required' },
  invalid_memory_id: { status: 400, text: 'invalid memory id' },
  missing_ptr_or_key: { status: 400, text: 'missing ptr or key' },
  invalid_pointer: { status: 400, text: 'invalid pointer' },
  invalid_artifact_pointer: { status: 400, text: 'invalid artifact pointer' },
  content_required: { status: 400, text: 'content required' },
  invalid_base64_content: { status: 400, text: 'invalid base64 content' },
  missing_topic_for_retry: { status: 400, text: 'missing topic for retry' },
  remediation_id_required: { status: 400, text: 'remediation id required' },
  unknown_topic: { status: 400, text: 'unknown topic' },
  topic_disabled: { status: 400, text: 'topic disabled' },
  schema_validation_failed: { status: 400, text: 'schema validation failed' },
  topic_schema_violation: {
    status: 400,
    text: 'the topic registration is not valid',
    code: 'TOPIC_SCHEMA_VIOLATION',
  },
  pool_invalid_config: { status: 400, text: 'this cannot be done with the pool', code: 'POOL_INVALID_CONFIG' },
  resource_required: { status: 400, text: 'resource required, of at most 512 characters' },
  config_schema_violation: { status: 400, text: 'the schema is not valid', code: 'CONFIG_SCHEMA_VIOLATION' },
  config_request_invalid: { status: 400, text: 'this names no config document', code: 'CONFIG_REQUEST_INVALID' },
  config_invalid: { status: 400, text: 'the config document is not valid', code: 'CONFIG_SCHEMA_VIOLATION' },
  config_key_forbidden: {
    status: 400,
    text: 'bundles are kept in the document system/policy',
    code: 'CONFIG_KEY_FORBIDDEN',
  },
  audit_cursor_invalid: { status: 400, text: 'cursor must be the next_cursor of a page', code: 'INVALID_CURSOR' },
  audit_limit_invalid: { status: 400, text: 'limit must be a whole number from 1', code: 'INVALID_LIMIT' },
  audit_from_invalid: { status: 400, text: 'the begin must be a time', code: 'INVALID_FROM' },
  audit_to_invalid: { status: 400, text: 'the end must be a time', code: 'INVALID_TO' },
  audit_range_invalid: { status: 400, text: 'the range is not valid', code: 'INVALID_RANGE' },
  audit_category_invalid: { status: 400, text: 'category must be governance or routine', code: 'INVALID_CATEGORY' },
  audit_query_invalid: { status: 400, text: 'the query is not valid', code: 'INVALID_QUERY' },
  legal_hold_reason_required: { status: 400, text: 'a reason of at most 2000 characters is required' },
  audit_exporter_missing: { status: 400, text: 'no exporter of audit events is configured' },
  worker_credential_invalid: {
    status: 400,
    text: 'the worker credential is not valid',
    code: 'WORKER_CRED_BINDING_INVALID',
  },
  agent_request_invalid: { status: 400, text: 'the agent is not valid', code: 'AGENT_REQUEST_INVALID' },
  delegation_request_invalid: {
    status: 400,
    text: 'the delegation is not valid',
    code: 'DELEGATION_REQUEST_INVALID',
  },
  delegation_scope_exceeded: {
    status: 400,
    text: 'more is delegated than the agent or its parent token permits',
    code: 'DELEGATION_SCOPE_EXCEEDED',
  },
  delegation_chain_too_deep: {
    status: 400,
    text: 'the chain of delegations is too deep',
    code: 'DELEGATION_CHAIN_TOO_DEEP',
  },
  telemetry_mode_unknown: { status: 400, text: 'mode must be off, local_only or anonymous' },
  invalid_workflow: { status: 400, text: 'the workflow is not valid' },
  invalid_schedule: { status: 400, text: 'the schedule is not valid' },
  policy_validation_failed: {
    status: 400,
    text: 'the policy is not valid',
    code: 'POLICY_VALIDATION_FAILED',
  },
  velocity_rule_invalid: { status: 400, text: 'the velocity rule is not valid', code: 'VELOCITY_RULE_INVALID' },
  policy_shadow_query_invalid: {
    status: 400,
    text: 'these results cannot be asked for',
    code: 'POLICY_SHADOW_QUERY_INVALID',
  },
  bundle_not_writable: { status: 400, text: 'bundles of this id are not written here' },
  input_schema_validation_failed: { status: 400, text: 'the input does not fit the schema of the workflow' },
  run_not_rerunnable: { status: 400, text: 'the run cannot be run again from there', code: 'RUN_NOT_RUNNABLE' },

  eval_dataset_invalid: {
    status: 400,
    text: 'the dataset is not valid',
    code: 'EVAL_DATASET_VALIDATION_FAILED',
  },
  eval_run_not_runnable: {
    status: 400,
    text: 'send either a candidate policy, or use_current_policy',
    code: 'EVAL_RUN_NOT_RUNNABLE',
  },
  eval_extraction_invalid: {
    status: 400,
    text: 'decisions cannot be selected this way',
    code: 'EVAL_EXTRACTION_FAILED',
  },

  group_mapping_invalid: {
    status: 400,
    text: 'the mapping of groups to roles is not valid',
    code: 'AUTH_OIDC_CALLBACK_FAILED',
  },

  upgrade_required: { status: 426, text: 'this route serves WebSocket connections only' },
  too_many_streams: { status: 429, text: 'the tenant or address has too many open streams' },

  // identity
  unauthorized: { status: 401, text: 'unauthorized' },
  token_malformed: { status: 401, text: 'the delegation token is malformed', code: 'malformed' },
  token_bad_signature: { status: 401, text: 'the signature of the delegation token is wrong', code: 'bad_signature' },
  token_unknown_kid: { status: 401, text: 'the key of the delegation token is unknown', code: 'unknown_kid' },
  token_not_yet_valid: { status: 401, text: 'the delegation token is not valid yet', code: 'not_yet_valid' },
  token_expired: { status: 403, text: 'the delegation token has expired', code: 'expired' },
  token_revoked: { status: 403, text: 'the delegation token was revoked', code: 'revoked' },
  token_audience_mismatch: {
    status: 403,
    text: 'the delegation token is for another agent',
    code: 'audience_mismatch',
  },
  token_chain_too_deep: { status: 422, text: 'the chain of delegations is too deep', code: 'chain_too_deep' },
  token_scope_exceeded: { status: 422, text: 'the delegation does not permit this job', code: 'scope_exceeded' },
  data_url_invalid: { status: 401, text: 'the token of this data URL is missing or not valid' },
  data_url_expired: { status: 401, text: 'this data URL has expired' },
  data_url_forbidden: { status: 403, text: 'this data URL is for another job or another purpose' },
  access_denied: { status: 403, text: 'access denied' },
  tenant_access_denied: { status: 403, text: 'tenant access denied' },
  tenant_id_required: { status: 403, text: 'tenant id required' },
  origin_not_allowed: { status: 403, text: 'origin not allowed' },
  key_scope_insufficient: { status: 403, text: 'forbidden' },
  tier_limit_exceeded: { status: 403, text: 'tier_limit_exceeded' },
  policy_denied: { status: 403, text: 'denied by policy' },
  self_approval_denied: { status: 403, text: 'callers cannot resolve the approval of their own job or run' },
  approval_forbidden: { status: 403, text: 'tenant access denied' },
  output_quarantined: { status: 403, text: 'output quarantined' },
  config_place_forbidden: { status: 403, text: 'this config document is not yours', code: 'CONFIG_KEY_FORBIDDEN' },
  budget_exceeded: { status: 403, text: 'it is estimated to cost more than one job may' },
  memory_policy_violation: { status: 403, text: 'memory id not allowed', code: 'MEMORY_POLICY_VIOLATION' },

  agent_denied: { status: 403, text: 'the agent may not do this' },

  // missing
  not_found: { status: 404, text: 'not found' },
  job_not_found: { status: 404, text: 'job not found' },
  input_not_found: { status: 404, text: 'the job has no input document in the store' },
  remediation_not_found: { status: 404, text: 'remediation not found' },
  dlq_entry_not_found: { status: 404, text: 'dlq entry not found' },
  artifact_not_found: { status: 404, text: 'artifact not found' },
  approval_not_found: { status: 404, text: 'approval not found' },
  worker_not_found: { status: 404, text: 'worker not found', code: 'WORKER_NOT_FOUND' },
  audit_dead_letter_not_found: { status: 404, text: 'no such event is in the dead letters of the exporter' },
  audit_event_not_found: { status: 404, text: 'audit event not found' },
  legal_hold_not_found: { status: 404, text: 'legal hold not found' },
  audit_checkpoint_not_found: { status: 404, text: 'no checkpoint covers this' },
  evidence_subject_not_found: { status: 404, text: 'there are no audit events about this subject in this time' },
  worker_credential_not_found: {
    status: 404,
    text: 'worker credential not found',
    code: 'WORKER_CRED_NOT_FOUND',
  },
  delegation_agent_not_found: {
    status: 404,
    text: 'there is no active agent of this id',
    code: 'DELEGATION_AGENT_NOT_FOUND',
  },
  delegation_token_not_found: {
    status: 404,
    text: 'there is no delegation token of this id',
    code: 'DELEGATION_TOKEN_NOT_FOUND',
  },
  agent_not_found: { status: 404, text: 'agent not found', code: 'AGENT_NOT_FOUND' },
  agent_identity_not_found: { status: 404, text: 'agent not found', code: 'MCP_AGENT_IDENTITY_NOT_FOUND' },
  pool_not_found: { status: 404, text: 'pool not found', code: 'POOL_NOT_FOUND' },
  topic_not_found: { status: 404, text: 'topic not found', code: 'TOPIC_NOT_FOUND' },
  config_schema_not_found: { status: 404, text: 'schema not found', code: 'CONFIG_SCHEMA_NOT_FOUND' },
  config_not_found: { status: 404, text: 'config document not found', code: 'CONFIG_NOT_FOUND' },
  workflow_not_found: { status: 404, text: 'workflow not found' },
  workflow_version_not_found: { status: 404, text: 'workflow version not found' },
  run_not_found: { status: 404, text: 'run not found' },
  lock_not_found: { status: 404, text: 'lock not found' },
  lock_not_renewable: { status: 404, text: 'the owner does not hold the lock', code: 'lock_not_held' },
  schedule_not_found: { status: 404, text: 'schedule not found' },

  bundle_not_found: { status: 404, text: 'bundle not found' },
  output_rule_not_found: { status: 404, text: 'output rule not found' },
  velocity_rule_not_found: { status: 404, text: 'velocity rule not found' },
  shadow_policy_not_found: { status: 404, text: 'shadow policy not found' },
  snapshot_not_found: { status: 404, text: 'snapshot not found' },

  eval_dataset_not_found: { status: 404, text: 'evaluation dataset not found' },
  eval_run_not_found: { status: 404, text: 'evaluation run not found' },
  eval_comparison_not_found: { status: 404, text: 'evaluation comparison not found' },
  eval_nothing_extracted: {
    status: 404,
    text: 'no decision matches, so there is no dataset',
    code: 'EVAL_EXTRACTION_FAILED',
  },

  method_not_allowed: { status: 405, text: 'method not allowed' },
  unsupported_media_type: { status: 415, text: 'send the body as application/json, not compressed' },

  // conflicts
  effect_not_found: { status: 404, text: 'effect not found' },
  effect_not_begun: { status: 409, text: 'this call did not begin the effect' },
  effect_settled: { status: 409, text: 'the effect is not in a state that permits this' },
  effect_result_invalid: { status: 400, text: 'the result must be JSON' },
  too_many_effects: { status: 409, text: 'the job has too many effects' },
  dispatch_superseded: { status: 409, text: 'the job was dispatched again; this dispatch no longer holds it' },
  job_not_in_flight: { status: 409, text: 'the job is not with a worker' },
  singleton_conflict: { status: 409, text: 'another job of this singleton key is open' },
  idempotency_conflict: {
    status: 409,
    text: 'this idempotency key was used for another request',
    code: 'IDEMPOTENCY_CONFLICT',
  },
  config_version_conflict: {
    status: 409,
    text: 'the document was changed by others at the same time; try again',
    code: 'CONFIG_VERSION_CONFLICT',
  },
  agent_version_conflict: { status: 409, text: 'the agent was changed by others at the same time; try again' },
  legal_hold_exists: { status: 409, text: 'the tenant has an active legal hold' },
  legal_hold_active: { status: 409, text: 'a legal hold keeps the records of the tenant' },
  legal_hold_already_released: { status: 409, text: 'the legal hold is already released' },
  lock_unavailable: { status: 409, text: 'lock unavailable' },
  lock_not_held: { status: 409, text: 'the owner does not hold the lock' },
  pool_name_conflict: { status: 409, text: 'there is a pool of this name', code: 'POOL_NAME_CONFLICT' },
  pool_version_conflict: {
    status: 409,
    text: 'the pools were changed by others at the same time; try again',
    code: 'POOL_VERSION_CONFLICT',
  },
  pool_in_use: { status: 409, text: 'the pool is in use', code: 'POOL_IN_USE' },
  config_schema_in_use: { status: 409, text: 'a topic uses this schema', code: 'CONFIG_SCHEMA_IN_USE' },
  output_rule_not_editable: { status: 409, text: 'rules of the policy file are changed in the file' },
  velocity_rule_conflict: {
    status: 409,
    text: 'there is a velocity rule of this id',
    code: 'VELOCITY_RULE_CONFLICT',
  },
  policy_version_conflict: {
    status: 409,
    text: 'the policy was changed by others; read it again',
    code: 'POLICY_VERSION_CONFLICT',
  },
  policy_shadow_conflict: {
    status: 409,
    text: 'the shadow was changed by others at the same time; try again',
    code: 'POLICY_SHADOW_CONFLICT',
  },
  workflow_version_conflict: { status: 409, text: 'the workflow was changed by others at the same time; try again' },
  run_idempotency_conflict: {
    status: 409,
    text: 'this idempotency key was used for another run',
    code: 'RUN_IDEMPOTENCY_CONFLICT',
  },
  run_not_cancellable: { status: 409, text: 'the run has ended', code: 'RUN_NOT_CANCELLABLE' },
  run_busy: { status: 409, text: 'the run is being changed; try again', code: 'RUN_BUSY' },
  run_already_ended: { status: 409, text: 'the run has ended' },
  no_remediations_available: { status: 409, text: 'no remediations available' },
  approval_retryable_lock: { status: 409, text: 'another decision is in progress; try again' },
  approval_terminal_run: { status: 409, text: 'the workflow run is already past this approval' },
  approval_stale_snapshot: { status: 409, text: 'the policy changed since this job was held' },
  approval_stale_request: { status: 409, text: 'the request of this job changed since it was held' },
  approval_not_actionable: { status: 409, text: 'the approval is no longer actionable' },
  conflict: { status: 409, text: 'this cannot be done as things stand' },
  output_not_releasable: { status: 409, text: 'this job has no quarantined output' },
  not_repairable: { status: 409, text: 'there is nothing to repair' },
  approval_already_resolved: { status: 409, text: 'the approval is already resolved' },

  eval_dataset_version_conflict: {
    status: 409,
    text: 'the dataset has this version already',
    code: 'EVAL_DATASET_VERSION_CONFLICT',
  },
  eval_run_conflict: {
    status: 409,
    text: 'another run of this dataset is in progress; try again',
    code: 'EVAL_RUN_CONFLICT',
  },
  eval_storage_full: {
    status: 409,
    text: 'there is no room for more evaluation data; remove datasets or runs',
    code: 'EVAL_STORAGE_FULL',
  },

  output_expired: { status: 410, text: 'the original of this output is no longer kept' },

  // limits
  request_too_large: { status: 413, text: 'request too large' },
  data_too_large: { status: 413, text: 'the document is larger than what data URLs transfer' },
  eval_dataset_too_large: {
    status: 413,
    text: 'the dataset is too large',
    code: 'EVAL_DATASET_VALIDATION_FAILED',
  },
  artifact_too_large: { status: 413, text: 'artifact too large' },
  evidence_too_large: { status: 413, text: 'the evidence is too large for one bundle: choose a shorter time' },
  rate_limited: { status: 429, text: 'rate limited' },
  delegation_cascade_too_deep: {
    status: 422,
    text: 'too many levels of tokens were delegated with it',
    code: 'DELEGATION_CASCADE_TOO_DEEP',
  },
  delegation_rate_limited: {
    status: 429,
    text: 'the agent has delegated too often',
    code: 'DELEGATION_RATE_LIMITED',
  },
  backpressure: { status: 429, text: 'too many active jobs', code: 'BACKPRESSURE' },
  run_not_runnable: { status: 429, text: 'too many runs under way', code: 'RUN_NOT_RUNNABLE' },
  policy_throttled: { status: 429, text: 'throttled by policy' },

  // ours
  internal_error: { status: 500, text: 'internal error' },
  upstream_service_error: { status: 502, text: 'upstream service error' },
  service_unavailable: { status: 503, text: 'service unavailable' },
  memory_policy_unreadable: {
    status: 503,
    text: 'the memory section of the config cannot be read',
    code: 'MEMORY_POLICY_VIOLATION',
  },
  policy_signing_required: {
    status: 503,
    text: 'policies must be signed, and the gateway has no key to sign with',
    code: 'POLICY_SIGNING_REQUIRED',
  },
  audit_signing_unavailable: {
    status: 503,
    text: 'the audit chain is not signed here: the gateway has no key to sign with',
  },
  delegation_unavailable: { status: 503, text: 'there are no keys for delegation tokens' },
  safety_unavailable: { status: 503, text: 'the policy service is unavailable' },
  overloaded: { status: 503, text: 'there is no room for more work now' },
  eval_extraction_timeout: { status: 504, text: 'the decisions could not be read in time; select fewer' },
  store_unavailable: { status: 503, text: 'the store is unavailable' },
} as const satisfies Record<string, { status: number; text: string; code?: string }>;

export type ErrorCode = keyof typeof errorCodes;

/** `{error, code, status, ...extras}`. See docs/reference/http.md#errors. */
export interface ErrorBody {
  error: string;
  code: string;
  status: number;
  [extra: string]: unknown;
}

/**
 * An error that is returned to the caller. Any other thrown value is a defect: it is logged with its cause and
 * answered 500 without detail.
 */
export class AppError extends Error {
  constructor(
    readonly errorCode: ErrorCode,
    /** Extra fields of the body; `error` here replaces the public text. */
    readonly extras: Record<string, unknown> = {},
    /** Response headers, such as Retry-After. */
    readonly headers: Record<string, string> = {},
  ) {
    super(typeof extras['error'] === 'string' ? extras['error'] : errorCodes[errorCode].text);
  }

  toBody(): ErrorBody {
    const { status, text, code }: { status: number; text: string; code?: string } = errorCodes[this.errorCode];
    return { error: text, code: code ?? this.errorCode, status, ...this.extras };
  }
}
