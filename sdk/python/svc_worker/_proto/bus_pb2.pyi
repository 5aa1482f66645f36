import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class JobPriority(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    JOB_PRIORITY_UNSPECIFIED: _ClassVar[JobPriority]
    JOB_PRIORITY_INTERACTIVE: _ClassVar[JobPriority]
    JOB_PRIORITY_BATCH: _ClassVar[JobPriority]
    JOB_PRIORITY_CRITICAL: _ClassVar[JobPriority]

class JobStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    JOB_STATUS_UNSPECIFIED: _ClassVar[JobStatus]
    JOB_STATUS_PENDING: _ClassVar[JobStatus]
    JOB_STATUS_SCHEDULED: _ClassVar[JobStatus]
    JOB_STATUS_DISPATCHED: _ClassVar[JobStatus]
    JOB_STATUS_RUNNING: _ClassVar[JobStatus]
    JOB_STATUS_SUCCEEDED: _ClassVar[JobStatus]
    JOB_STATUS_FAILED: _ClassVar[JobStatus]
    JOB_STATUS_CANCELLED: _ClassVar[JobStatus]
    JOB_STATUS_DENIED: _ClassVar[JobStatus]
    JOB_STATUS_TIMEOUT: _ClassVar[JobStatus]
    JOB_STATUS_FAILED_RETRYABLE: _ClassVar[JobStatus]
    JOB_STATUS_FAILED_FATAL: _ClassVar[JobStatus]

class ActorType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ACTOR_TYPE_UNSPECIFIED: _ClassVar[ActorType]
    ACTOR_TYPE_HUMAN: _ClassVar[ActorType]
    ACTOR_TYPE_SERVICE: _ClassVar[ActorType]

class AlertSeverity(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ALERT_SEVERITY_UNSPECIFIED: _ClassVar[AlertSeverity]
    ALERT_SEVERITY_INFO: _ClassVar[AlertSeverity]
    ALERT_SEVERITY_WARNING: _ClassVar[AlertSeverity]
    ALERT_SEVERITY_ERROR: _ClassVar[AlertSeverity]
    ALERT_SEVERITY_CRITICAL: _ClassVar[AlertSeverity]

class ComponentRole(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    COMPONENT_ROLE_UNSPECIFIED: _ClassVar[ComponentRole]
    COMPONENT_ROLE_GATEWAY: _ClassVar[ComponentRole]
    COMPONENT_ROLE_SCHEDULER: _ClassVar[ComponentRole]
    COMPONENT_ROLE_WORKER: _ClassVar[ComponentRole]
    COMPONENT_ROLE_ORCHESTRATOR: _ClassVar[ComponentRole]
    COMPONENT_ROLE_CONTROLLER: _ClassVar[ComponentRole]

class ErrorCode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ERROR_CODE_UNSPECIFIED: _ClassVar[ErrorCode]
    ERROR_CODE_PROTOCOL_VERSION_MISMATCH: _ClassVar[ErrorCode]
    ERROR_CODE_MALFORMED_PACKET: _ClassVar[ErrorCode]
    ERROR_CODE_UNKNOWN_PAYLOAD: _ClassVar[ErrorCode]
    ERROR_CODE_SIGNATURE_INVALID: _ClassVar[ErrorCode]
    ERROR_CODE_SIGNATURE_MISSING: _ClassVar[ErrorCode]
    ERROR_CODE_JOB_TIMEOUT: _ClassVar[ErrorCode]
    ERROR_CODE_RESOURCE_EXHAUSTED: _ClassVar[ErrorCode]
    ERROR_CODE_PERMISSION_DENIED: _ClassVar[ErrorCode]
    ERROR_CODE_INVALID_INPUT: _ClassVar[ErrorCode]
    ERROR_CODE_NOT_FOUND: _ClassVar[ErrorCode]
    ERROR_CODE_DUPLICATE: _ClassVar[ErrorCode]
    ERROR_CODE_WORKER_UNAVAILABLE: _ClassVar[ErrorCode]
    ERROR_CODE_SAFETY_DENIED: _ClassVar[ErrorCode]
    ERROR_CODE_POLICY_VIOLATION: _ClassVar[ErrorCode]
    ERROR_CODE_RISK_TAG_BLOCKED: _ClassVar[ErrorCode]
    ERROR_CODE_TRANSPORT_PUBLISH_FAILED: _ClassVar[ErrorCode]
    ERROR_CODE_TRANSPORT_SUBSCRIBE_FAILED: _ClassVar[ErrorCode]
    ERROR_CODE_CONNECTION_LOST: _ClassVar[ErrorCode]

class WorkerHandshakePurpose(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    WORKER_HANDSHAKE_PURPOSE_UNSPECIFIED: _ClassVar[WorkerHandshakePurpose]
    WORKER_HANDSHAKE_PURPOSE_ISSUE: _ClassVar[WorkerHandshakePurpose]
    WORKER_HANDSHAKE_PURPOSE_RENEW: _ClassVar[WorkerHandshakePurpose]

class WorkerHandshakeProofAlgorithm(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    WORKER_HANDSHAKE_PROOF_ALGORITHM_UNSPECIFIED: _ClassVar[WorkerHandshakeProofAlgorithm]
    WORKER_HANDSHAKE_PROOF_ALGORITHM_ECDSA_P256_SHA256: _ClassVar[WorkerHandshakeProofAlgorithm]

class WorkerHandshakeRejectionReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    WORKER_HANDSHAKE_REJECTION_REASON_UNSPECIFIED: _ClassVar[WorkerHandshakeRejectionReason]
    WORKER_HANDSHAKE_REJECTION_REASON_INVALID_REQUEST: _ClassVar[WorkerHandshakeRejectionReason]
    WORKER_HANDSHAKE_REJECTION_REASON_AUTHENTICATION_FAILED: _ClassVar[WorkerHandshakeRejectionReason]
    WORKER_HANDSHAKE_REJECTION_REASON_REPLAY_DETECTED: _ClassVar[WorkerHandshakeRejectionReason]
    WORKER_HANDSHAKE_REJECTION_REASON_CLOCK_SKEW: _ClassVar[WorkerHandshakeRejectionReason]
    WORKER_HANDSHAKE_REJECTION_REASON_CHALLENGE_EXPIRED: _ClassVar[WorkerHandshakeRejectionReason]
    WORKER_HANDSHAKE_REJECTION_REASON_SESSION_REQUIRED: _ClassVar[WorkerHandshakeRejectionReason]
    WORKER_HANDSHAKE_REJECTION_REASON_SESSION_INVALID: _ClassVar[WorkerHandshakeRejectionReason]
    WORKER_HANDSHAKE_REJECTION_REASON_UNSUPPORTED_VERSION: _ClassVar[WorkerHandshakeRejectionReason]
    WORKER_HANDSHAKE_REJECTION_REASON_INTERNAL_ERROR: _ClassVar[WorkerHandshakeRejectionReason]
JOB_PRIORITY_UNSPECIFIED: JobPriority
JOB_PRIORITY_INTERACTIVE: JobPriority
JOB_PRIORITY_BATCH: JobPriority
JOB_PRIORITY_CRITICAL: JobPriority
JOB_STATUS_UNSPECIFIED: JobStatus
JOB_STATUS_PENDING: JobStatus
JOB_STATUS_SCHEDULED: JobStatus
JOB_STATUS_DISPATCHED: JobStatus
JOB_STATUS_RUNNING: JobStatus
JOB_STATUS_SUCCEEDED: JobStatus
JOB_STATUS_FAILED: JobStatus
JOB_STATUS_CANCELLED: JobStatus
JOB_STATUS_DENIED: JobStatus
JOB_STATUS_TIMEOUT: JobStatus
JOB_STATUS_FAILED_RETRYABLE: JobStatus
JOB_STATUS_FAILED_FATAL: JobStatus
ACTOR_TYPE_UNSPECIFIED: ActorType
ACTOR_TYPE_HUMAN: ActorType
ACTOR_TYPE_SERVICE: ActorType
ALERT_SEVERITY_UNSPECIFIED: AlertSeverity
ALERT_SEVERITY_INFO: AlertSeverity
ALERT_SEVERITY_WARNING: AlertSeverity
ALERT_SEVERITY_ERROR: AlertSeverity
ALERT_SEVERITY_CRITICAL: AlertSeverity
COMPONENT_ROLE_UNSPECIFIED: ComponentRole
COMPONENT_ROLE_GATEWAY: ComponentRole
COMPONENT_ROLE_SCHEDULER: ComponentRole
COMPONENT_ROLE_WORKER: ComponentRole
COMPONENT_ROLE_ORCHESTRATOR: ComponentRole
COMPONENT_ROLE_CONTROLLER: ComponentRole
ERROR_CODE_UNSPECIFIED: ErrorCode
ERROR_CODE_PROTOCOL_VERSION_MISMATCH: ErrorCode
ERROR_CODE_MALFORMED_PACKET: ErrorCode
ERROR_CODE_UNKNOWN_PAYLOAD: ErrorCode
ERROR_CODE_SIGNATURE_INVALID: ErrorCode
ERROR_CODE_SIGNATURE_MISSING: ErrorCode
ERROR_CODE_JOB_TIMEOUT: ErrorCode
ERROR_CODE_RESOURCE_EXHAUSTED: ErrorCode
ERROR_CODE_PERMISSION_DENIED: ErrorCode
ERROR_CODE_INVALID_INPUT: ErrorCode
ERROR_CODE_NOT_FOUND: ErrorCode
ERROR_CODE_DUPLICATE: ErrorCode
ERROR_CODE_WORKER_UNAVAILABLE: ErrorCode
ERROR_CODE_SAFETY_DENIED: ErrorCode
ERROR_CODE_POLICY_VIOLATION: ErrorCode
ERROR_CODE_RISK_TAG_BLOCKED: ErrorCode
ERROR_CODE_TRANSPORT_PUBLISH_FAILED: ErrorCode
ERROR_CODE_TRANSPORT_SUBSCRIBE_FAILED: ErrorCode
ERROR_CODE_CONNECTION_LOST: ErrorCode
WORKER_HANDSHAKE_PURPOSE_UNSPECIFIED: WorkerHandshakePurpose
WORKER_HANDSHAKE_PURPOSE_ISSUE: WorkerHandshakePurpose
WORKER_HANDSHAKE_PURPOSE_RENEW: WorkerHandshakePurpose
WORKER_HANDSHAKE_PROOF_ALGORITHM_UNSPECIFIED: WorkerHandshakeProofAlgorithm
WORKER_HANDSHAKE_PROOF_ALGORITHM_ECDSA_P256_SHA256: WorkerHandshakeProofAlgorithm
WORKER_HANDSHAKE_REJECTION_REASON_UNSPECIFIED: WorkerHandshakeRejectionReason
WORKER_HANDSHAKE_REJECTION_REASON_INVALID_REQUEST: WorkerHandshakeRejectionReason
WORKER_HANDSHAKE_REJECTION_REASON_AUTHENTICATION_FAILED: WorkerHandshakeRejectionReason
WORKER_HANDSHAKE_REJECTION_REASON_REPLAY_DETECTED: WorkerHandshakeRejectionReason
WORKER_HANDSHAKE_REJECTION_REASON_CLOCK_SKEW: WorkerHandshakeRejectionReason
WORKER_HANDSHAKE_REJECTION_REASON_CHALLENGE_EXPIRED: WorkerHandshakeRejectionReason
WORKER_HANDSHAKE_REJECTION_REASON_SESSION_REQUIRED: WorkerHandshakeRejectionReason
WORKER_HANDSHAKE_REJECTION_REASON_SESSION_INVALID: WorkerHandshakeRejectionReason
WORKER_HANDSHAKE_REJECTION_REASON_UNSUPPORTED_VERSION: WorkerHandshakeRejectionReason
WORKER_HANDSHAKE_REJECTION_REASON_INTERNAL_ERROR: WorkerHandshakeRejectionReason

class BusPacket(_message.Message):
    __slots__ = ("trace_id", "sender_id", "created_at", "protocol_version", "signature_metadata", "identity", "job_request", "job_result", "heartbeat", "alert", "job_progress", "job_cancel", "handshake", "worker_handshake_challenge_request", "worker_handshake_challenge", "worker_handshake_authenticate", "worker_handshake_result", "signature", "auth_token")
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    SENDER_ID_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    PROTOCOL_VERSION_FIELD_NUMBER: _ClassVar[int]
    SIGNATURE_METADATA_FIELD_NUMBER: _ClassVar[int]
    IDENTITY_FIELD_NUMBER: _ClassVar[int]
    JOB_REQUEST_FIELD_NUMBER: _ClassVar[int]
    JOB_RESULT_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_FIELD_NUMBER: _ClassVar[int]
    ALERT_FIELD_NUMBER: _ClassVar[int]
    JOB_PROGRESS_FIELD_NUMBER: _ClassVar[int]
    JOB_CANCEL_FIELD_NUMBER: _ClassVar[int]
    HANDSHAKE_FIELD_NUMBER: _ClassVar[int]
    WORKER_HANDSHAKE_CHALLENGE_REQUEST_FIELD_NUMBER: _ClassVar[int]
    WORKER_HANDSHAKE_CHALLENGE_FIELD_NUMBER: _ClassVar[int]
    WORKER_HANDSHAKE_AUTHENTICATE_FIELD_NUMBER: _ClassVar[int]
    WORKER_HANDSHAKE_RESULT_FIELD_NUMBER: _ClassVar[int]
    SIGNATURE_FIELD_NUMBER: _ClassVar[int]
    AUTH_TOKEN_FIELD_NUMBER: _ClassVar[int]
    trace_id: str
    sender_id: str
    created_at: _timestamp_pb2.Timestamp
    protocol_version: int
    signature_metadata: SignatureMetadata
    identity: IdentityBinding
    job_request: JobRequest
    job_result: JobResult
    heartbeat: Heartbeat
    alert: SystemAlert
    job_progress: JobProgress
    job_cancel: JobCancel
    handshake: Handshake
    worker_handshake_challenge_request: WorkerHandshakeChallengeRequest
    worker_handshake_challenge: WorkerHandshakeChallenge
    worker_handshake_authenticate: WorkerHandshakeAuthenticate
    worker_handshake_result: WorkerHandshakeResult
    signature: bytes
    auth_token: str
    def __init__(self, trace_id: _Optional[str] = ..., sender_id: _Optional[str] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., protocol_version: _Optional[int] = ..., signature_metadata: _Optional[_Union[SignatureMetadata, _Mapping]] = ..., identity: _Optional[_Union[IdentityBinding, _Mapping]] = ..., job_request: _Optional[_Union[JobRequest, _Mapping]] = ..., job_result: _Optional[_Union[JobResult, _Mapping]] = ..., heartbeat: _Optional[_Union[Heartbeat, _Mapping]] = ..., alert: _Optional[_Union[SystemAlert, _Mapping]] = ..., job_progress: _Optional[_Union[JobProgress, _Mapping]] = ..., job_cancel: _Optional[_Union[JobCancel, _Mapping]] = ..., handshake: _Optional[_Union[Handshake, _Mapping]] = ..., worker_handshake_challenge_request: _Optional[_Union[WorkerHandshakeChallengeRequest, _Mapping]] = ..., worker_handshake_challenge: _Optional[_Union[WorkerHandshakeChallenge, _Mapping]] = ..., worker_handshake_authenticate: _Optional[_Union[WorkerHandshakeAuthenticate, _Mapping]] = ..., worker_handshake_result: _Optional[_Union[WorkerHandshakeResult, _Mapping]] = ..., signature: _Optional[bytes] = ..., auth_token: _Optional[str] = ...) -> None: ...

class SignatureMetadata(_message.Message):
    __slots__ = ("profile_version", "algorithm", "message_id", "audience", "expires_at", "key_id")
    PROFILE_VERSION_FIELD_NUMBER: _ClassVar[int]
    ALGORITHM_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    AUDIENCE_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    KEY_ID_FIELD_NUMBER: _ClassVar[int]
    profile_version: str
    algorithm: str
    message_id: bytes
    audience: str
    expires_at: _timestamp_pb2.Timestamp
    key_id: str
    def __init__(self, profile_version: _Optional[str] = ..., algorithm: _Optional[str] = ..., message_id: _Optional[bytes] = ..., audience: _Optional[str] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., key_id: _Optional[str] = ...) -> None: ...

class IdentityBinding(_message.Message):
    __slots__ = ("tenant_id", "principal_id", "actor_id", "delegation_id")
    TENANT_ID_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_ID_FIELD_NUMBER: _ClassVar[int]
    DELEGATION_ID_FIELD_NUMBER: _ClassVar[int]
    tenant_id: str
    principal_id: str
    actor_id: str
    delegation_id: str
    def __init__(self, tenant_id: _Optional[str] = ..., principal_id: _Optional[str] = ..., actor_id: _Optional[str] = ..., delegation_id: _Optional[str] = ...) -> None: ...

class DispatchIdentity(_message.Message):
    __slots__ = ("dispatch_id", "attempt", "assigned_worker_id")
    DISPATCH_ID_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    ASSIGNED_WORKER_ID_FIELD_NUMBER: _ClassVar[int]
    dispatch_id: str
    attempt: int
    assigned_worker_id: str
    def __init__(self, dispatch_id: _Optional[str] = ..., attempt: _Optional[int] = ..., assigned_worker_id: _Optional[str] = ...) -> None: ...

class ResourceRef(_message.Message):
    __slots__ = ("resolver_id", "uri", "sha256", "media_type", "size_bytes", "expires_at", "purpose")
    RESOLVER_ID_FIELD_NUMBER: _ClassVar[int]
    URI_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    resolver_id: str
    uri: str
    sha256: bytes
    media_type: str
    size_bytes: int
    expires_at: _timestamp_pb2.Timestamp
    purpose: str
    def __init__(self, resolver_id: _Optional[str] = ..., uri: _Optional[str] = ..., sha256: _Optional[bytes] = ..., media_type: _Optional[str] = ..., size_bytes: _Optional[int] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., purpose: _Optional[str] = ...) -> None: ...

class JobRequest(_message.Message):
    __slots__ = ("job_id", "topic", "priority", "context_ptr", "adapter_id", "env", "parent_job_id", "workflow_id", "step_index", "memory_id", "context_hints", "budget", "tenant_id", "principal_id", "labels", "meta", "compensation", "identity", "dispatch", "context_ref", "inline_input", "result_ticket", "grant")
    class EnvEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_PTR_FIELD_NUMBER: _ClassVar[int]
    ADAPTER_ID_FIELD_NUMBER: _ClassVar[int]
    ENV_FIELD_NUMBER: _ClassVar[int]
    PARENT_JOB_ID_FIELD_NUMBER: _ClassVar[int]
    WORKFLOW_ID_FIELD_NUMBER: _ClassVar[int]
    STEP_INDEX_FIELD_NUMBER: _ClassVar[int]
    MEMORY_ID_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_HINTS_FIELD_NUMBER: _ClassVar[int]
    BUDGET_FIELD_NUMBER: _ClassVar[int]
    TENANT_ID_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_ID_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    META_FIELD_NUMBER: _ClassVar[int]
    COMPENSATION_FIELD_NUMBER: _ClassVar[int]
    IDENTITY_FIELD_NUMBER: _ClassVar[int]
    DISPATCH_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_REF_FIELD_NUMBER: _ClassVar[int]
    INLINE_INPUT_FIELD_NUMBER: _ClassVar[int]
    RESULT_TICKET_FIELD_NUMBER: _ClassVar[int]
    GRANT_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    topic: str
    priority: JobPriority
    context_ptr: str
    adapter_id: str
    env: _containers.ScalarMap[str, str]
    parent_job_id: str
    workflow_id: str
    step_index: int
    memory_id: str
    context_hints: ContextHints
    budget: Budget
    tenant_id: str
    principal_id: str
    labels: _containers.ScalarMap[str, str]
    meta: JobMetadata
    compensation: Compensation
    identity: IdentityBinding
    dispatch: DispatchIdentity
    context_ref: ResourceRef
    inline_input: bytes
    result_ticket: bytes
    grant: bytes
    def __init__(self, job_id: _Optional[str] = ..., topic: _Optional[str] = ..., priority: _Optional[_Union[JobPriority, str]] = ..., context_ptr: _Optional[str] = ..., adapter_id: _Optional[str] = ..., env: _Optional[_Mapping[str, str]] = ..., parent_job_id: _Optional[str] = ..., workflow_id: _Optional[str] = ..., step_index: _Optional[int] = ..., memory_id: _Optional[str] = ..., context_hints: _Optional[_Union[ContextHints, _Mapping]] = ..., budget: _Optional[_Union[Budget, _Mapping]] = ..., tenant_id: _Optional[str] = ..., principal_id: _Optional[str] = ..., labels: _Optional[_Mapping[str, str]] = ..., meta: _Optional[_Union[JobMetadata, _Mapping]] = ..., compensation: _Optional[_Union[Compensation, _Mapping]] = ..., identity: _Optional[_Union[IdentityBinding, _Mapping]] = ..., dispatch: _Optional[_Union[DispatchIdentity, _Mapping]] = ..., context_ref: _Optional[_Union[ResourceRef, _Mapping]] = ..., inline_input: _Optional[bytes] = ..., result_ticket: _Optional[bytes] = ..., grant: _Optional[bytes] = ...) -> None: ...

class ContextHints(_message.Message):
    __slots__ = ("max_input_tokens", "allow_summarization", "allow_retrieval", "tags")
    MAX_INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    ALLOW_SUMMARIZATION_FIELD_NUMBER: _ClassVar[int]
    ALLOW_RETRIEVAL_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    max_input_tokens: int
    allow_summarization: bool
    allow_retrieval: bool
    tags: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, max_input_tokens: _Optional[int] = ..., allow_summarization: bool = ..., allow_retrieval: bool = ..., tags: _Optional[_Iterable[str]] = ...) -> None: ...

class Budget(_message.Message):
    __slots__ = ("max_input_tokens", "max_output_tokens", "max_total_tokens", "deadline_ms")
    MAX_INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MAX_OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MAX_TOTAL_TOKENS_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_MS_FIELD_NUMBER: _ClassVar[int]
    max_input_tokens: int
    max_output_tokens: int
    max_total_tokens: int
    deadline_ms: int
    def __init__(self, max_input_tokens: _Optional[int] = ..., max_output_tokens: _Optional[int] = ..., max_total_tokens: _Optional[int] = ..., deadline_ms: _Optional[int] = ...) -> None: ...

class JobMetadata(_message.Message):
    __slots__ = ("tenant_id", "actor_id", "actor_type", "idempotency_key", "capability", "risk_tags", "requires", "pack_id", "labels")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    TENANT_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_TYPE_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    CAPABILITY_FIELD_NUMBER: _ClassVar[int]
    RISK_TAGS_FIELD_NUMBER: _ClassVar[int]
    REQUIRES_FIELD_NUMBER: _ClassVar[int]
    PACK_ID_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    tenant_id: str
    actor_id: str
    actor_type: ActorType
    idempotency_key: str
    capability: str
    risk_tags: _containers.RepeatedScalarFieldContainer[str]
    requires: _containers.RepeatedScalarFieldContainer[str]
    pack_id: str
    labels: _containers.ScalarMap[str, str]
    def __init__(self, tenant_id: _Optional[str] = ..., actor_id: _Optional[str] = ..., actor_type: _Optional[_Union[ActorType, str]] = ..., idempotency_key: _Optional[str] = ..., capability: _Optional[str] = ..., risk_tags: _Optional[_Iterable[str]] = ..., requires: _Optional[_Iterable[str]] = ..., pack_id: _Optional[str] = ..., labels: _Optional[_Mapping[str, str]] = ...) -> None: ...

class Compensation(_message.Message):
    __slots__ = ("topic", "context_ptr", "priority", "adapter_id", "env", "memory_id", "context_hints", "budget", "tenant_id", "principal_id", "labels", "meta", "identity", "dispatch", "context_ref")
    class EnvEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_PTR_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    ADAPTER_ID_FIELD_NUMBER: _ClassVar[int]
    ENV_FIELD_NUMBER: _ClassVar[int]
    MEMORY_ID_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_HINTS_FIELD_NUMBER: _ClassVar[int]
    BUDGET_FIELD_NUMBER: _ClassVar[int]
    TENANT_ID_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_ID_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    META_FIELD_NUMBER: _ClassVar[int]
    IDENTITY_FIELD_NUMBER: _ClassVar[int]
    DISPATCH_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_REF_FIELD_NUMBER: _ClassVar[int]
    topic: str
    context_ptr: str
    priority: JobPriority
    adapter_id: str
    env: _containers.ScalarMap[str, str]
    memory_id: str
    context_hints: ContextHints
    budget: Budget
    tenant_id: str
    principal_id: str
    labels: _containers.ScalarMap[str, str]
    meta: JobMetadata
    identity: IdentityBinding
    dispatch: DispatchIdentity
    context_ref: ResourceRef
    def __init__(self, topic: _Optional[str] = ..., context_ptr: _Optional[str] = ..., priority: _Optional[_Union[JobPriority, str]] = ..., adapter_id: _Optional[str] = ..., env: _Optional[_Mapping[str, str]] = ..., memory_id: _Optional[str] = ..., context_hints: _Optional[_Union[ContextHints, _Mapping]] = ..., budget: _Optional[_Union[Budget, _Mapping]] = ..., tenant_id: _Optional[str] = ..., principal_id: _Optional[str] = ..., labels: _Optional[_Mapping[str, str]] = ..., meta: _Optional[_Union[JobMetadata, _Mapping]] = ..., identity: _Optional[_Union[IdentityBinding, _Mapping]] = ..., dispatch: _Optional[_Union[DispatchIdentity, _Mapping]] = ..., context_ref: _Optional[_Union[ResourceRef, _Mapping]] = ...) -> None: ...

class JobResult(_message.Message):
    __slots__ = ("job_id", "status", "result_ptr", "worker_id", "execution_ms", "error_code", "error_message", "artifact_ptrs", "error_code_enum", "dispatch", "identity", "result_ref", "artifact_refs", "cost_usd", "inline_result", "result_ticket")
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    RESULT_PTR_FIELD_NUMBER: _ClassVar[int]
    WORKER_ID_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_MS_FIELD_NUMBER: _ClassVar[int]
    ERROR_CODE_FIELD_NUMBER: _ClassVar[int]
    ERROR_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_PTRS_FIELD_NUMBER: _ClassVar[int]
    ERROR_CODE_ENUM_FIELD_NUMBER: _ClassVar[int]
    DISPATCH_FIELD_NUMBER: _ClassVar[int]
    IDENTITY_FIELD_NUMBER: _ClassVar[int]
    RESULT_REF_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_REFS_FIELD_NUMBER: _ClassVar[int]
    COST_USD_FIELD_NUMBER: _ClassVar[int]
    INLINE_RESULT_FIELD_NUMBER: _ClassVar[int]
    RESULT_TICKET_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    status: JobStatus
    result_ptr: str
    worker_id: str
    execution_ms: int
    error_code: str
    error_message: str
    artifact_ptrs: _containers.RepeatedScalarFieldContainer[str]
    error_code_enum: ErrorCode
    dispatch: DispatchIdentity
    identity: IdentityBinding
    result_ref: ResourceRef
    artifact_refs: _containers.RepeatedCompositeFieldContainer[ResourceRef]
    cost_usd: float
    inline_result: bytes
    result_ticket: bytes
    def __init__(self, job_id: _Optional[str] = ..., status: _Optional[_Union[JobStatus, str]] = ..., result_ptr: _Optional[str] = ..., worker_id: _Optional[str] = ..., execution_ms: _Optional[int] = ..., error_code: _Optional[str] = ..., error_message: _Optional[str] = ..., artifact_ptrs: _Optional[_Iterable[str]] = ..., error_code_enum: _Optional[_Union[ErrorCode, str]] = ..., dispatch: _Optional[_Union[DispatchIdentity, _Mapping]] = ..., identity: _Optional[_Union[IdentityBinding, _Mapping]] = ..., result_ref: _Optional[_Union[ResourceRef, _Mapping]] = ..., artifact_refs: _Optional[_Iterable[_Union[ResourceRef, _Mapping]]] = ..., cost_usd: _Optional[float] = ..., inline_result: _Optional[bytes] = ..., result_ticket: _Optional[bytes] = ...) -> None: ...

class JobProgress(_message.Message):
    __slots__ = ("job_id", "step_id", "percent", "message", "result_ptr", "artifact_ptrs", "status", "dispatch", "identity", "result_ref", "artifact_refs", "logs", "output", "output_offset")
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    STEP_ID_FIELD_NUMBER: _ClassVar[int]
    PERCENT_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    RESULT_PTR_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_PTRS_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    DISPATCH_FIELD_NUMBER: _ClassVar[int]
    IDENTITY_FIELD_NUMBER: _ClassVar[int]
    RESULT_REF_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_REFS_FIELD_NUMBER: _ClassVar[int]
    LOGS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_OFFSET_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    step_id: str
    percent: int
    message: str
    result_ptr: str
    artifact_ptrs: _containers.RepeatedScalarFieldContainer[str]
    status: JobStatus
    dispatch: DispatchIdentity
    identity: IdentityBinding
    result_ref: ResourceRef
    artifact_refs: _containers.RepeatedCompositeFieldContainer[ResourceRef]
    logs: _containers.RepeatedCompositeFieldContainer[JobLogLine]
    output: str
    output_offset: int
    def __init__(self, job_id: _Optional[str] = ..., step_id: _Optional[str] = ..., percent: _Optional[int] = ..., message: _Optional[str] = ..., result_ptr: _Optional[str] = ..., artifact_ptrs: _Optional[_Iterable[str]] = ..., status: _Optional[_Union[JobStatus, str]] = ..., dispatch: _Optional[_Union[DispatchIdentity, _Mapping]] = ..., identity: _Optional[_Union[IdentityBinding, _Mapping]] = ..., result_ref: _Optional[_Union[ResourceRef, _Mapping]] = ..., artifact_refs: _Optional[_Iterable[_Union[ResourceRef, _Mapping]]] = ..., logs: _Optional[_Iterable[_Union[JobLogLine, _Mapping]]] = ..., output: _Optional[str] = ..., output_offset: _Optional[int] = ...) -> None: ...

class JobLogLine(_message.Message):
    __slots__ = ("level", "message", "at_ms")
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    AT_MS_FIELD_NUMBER: _ClassVar[int]
    level: str
    message: str
    at_ms: int
    def __init__(self, level: _Optional[str] = ..., message: _Optional[str] = ..., at_ms: _Optional[int] = ...) -> None: ...

class JobCancel(_message.Message):
    __slots__ = ("job_id", "reason", "requested_by", "dispatch", "identity", "grace_sec")
    JOB_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    REQUESTED_BY_FIELD_NUMBER: _ClassVar[int]
    DISPATCH_FIELD_NUMBER: _ClassVar[int]
    IDENTITY_FIELD_NUMBER: _ClassVar[int]
    GRACE_SEC_FIELD_NUMBER: _ClassVar[int]
    job_id: str
    reason: str
    requested_by: str
    dispatch: DispatchIdentity
    identity: IdentityBinding
    grace_sec: int
    def __init__(self, job_id: _Optional[str] = ..., reason: _Optional[str] = ..., requested_by: _Optional[str] = ..., dispatch: _Optional[_Union[DispatchIdentity, _Mapping]] = ..., identity: _Optional[_Union[IdentityBinding, _Mapping]] = ..., grace_sec: _Optional[int] = ...) -> None: ...

class Heartbeat(_message.Message):
    __slots__ = ("worker_id", "region", "type", "cpu_load", "gpu_utilization", "active_jobs", "capabilities", "pool", "max_parallel_jobs", "labels", "memory_load", "progress_pct", "last_memo", "auth_token", "agent_name", "running_jobs")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    WORKER_ID_FIELD_NUMBER: _ClassVar[int]
    REGION_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    CPU_LOAD_FIELD_NUMBER: _ClassVar[int]
    GPU_UTILIZATION_FIELD_NUMBER: _ClassVar[int]
    ACTIVE_JOBS_FIELD_NUMBER: _ClassVar[int]
    CAPABILITIES_FIELD_NUMBER: _ClassVar[int]
    POOL_FIELD_NUMBER: _ClassVar[int]
    MAX_PARALLEL_JOBS_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    MEMORY_LOAD_FIELD_NUMBER: _ClassVar[int]
    PROGRESS_PCT_FIELD_NUMBER: _ClassVar[int]
    LAST_MEMO_FIELD_NUMBER: _ClassVar[int]
    AUTH_TOKEN_FIELD_NUMBER: _ClassVar[int]
    AGENT_NAME_FIELD_NUMBER: _ClassVar[int]
    RUNNING_JOBS_FIELD_NUMBER: _ClassVar[int]
    worker_id: str
    region: str
    type: str
    cpu_load: float
    gpu_utilization: float
    active_jobs: int
    capabilities: _containers.RepeatedScalarFieldContainer[str]
    pool: str
    max_parallel_jobs: int
    labels: _containers.ScalarMap[str, str]
    memory_load: float
    progress_pct: int
    last_memo: str
    auth_token: str
    agent_name: str
    running_jobs: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, worker_id: _Optional[str] = ..., region: _Optional[str] = ..., type: _Optional[str] = ..., cpu_load: _Optional[float] = ..., gpu_utilization: _Optional[float] = ..., active_jobs: _Optional[int] = ..., capabilities: _Optional[_Iterable[str]] = ..., pool: _Optional[str] = ..., max_parallel_jobs: _Optional[int] = ..., labels: _Optional[_Mapping[str, str]] = ..., memory_load: _Optional[float] = ..., progress_pct: _Optional[int] = ..., last_memo: _Optional[str] = ..., auth_token: _Optional[str] = ..., agent_name: _Optional[str] = ..., running_jobs: _Optional[_Iterable[str]] = ...) -> None: ...

class Handshake(_message.Message):
    __slots__ = ("component_id", "role", "supported_versions", "capabilities", "sdk_version", "ready_topics", "agent_name")
    class CapabilitiesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bool
        def __init__(self, key: _Optional[str] = ..., value: bool = ...) -> None: ...
    COMPONENT_ID_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    SUPPORTED_VERSIONS_FIELD_NUMBER: _ClassVar[int]
    CAPABILITIES_FIELD_NUMBER: _ClassVar[int]
    SDK_VERSION_FIELD_NUMBER: _ClassVar[int]
    READY_TOPICS_FIELD_NUMBER: _ClassVar[int]
    AGENT_NAME_FIELD_NUMBER: _ClassVar[int]
    component_id: str
    role: ComponentRole
    supported_versions: _containers.RepeatedScalarFieldContainer[int]
    capabilities: _containers.ScalarMap[str, bool]
    sdk_version: str
    ready_topics: _containers.RepeatedScalarFieldContainer[str]
    agent_name: str
    def __init__(self, component_id: _Optional[str] = ..., role: _Optional[_Union[ComponentRole, str]] = ..., supported_versions: _Optional[_Iterable[int]] = ..., capabilities: _Optional[_Mapping[str, bool]] = ..., sdk_version: _Optional[str] = ..., ready_topics: _Optional[_Iterable[str]] = ..., agent_name: _Optional[str] = ...) -> None: ...

class SystemAlert(_message.Message):
    __slots__ = ("level", "message", "component", "code", "severity", "error_code_enum", "source_component", "details", "trace_id")
    class DetailsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    COMPONENT_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    SEVERITY_FIELD_NUMBER: _ClassVar[int]
    ERROR_CODE_ENUM_FIELD_NUMBER: _ClassVar[int]
    SOURCE_COMPONENT_FIELD_NUMBER: _ClassVar[int]
    DETAILS_FIELD_NUMBER: _ClassVar[int]
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    level: str
    message: str
    component: str
    code: str
    severity: AlertSeverity
    error_code_enum: ErrorCode
    source_component: str
    details: _containers.ScalarMap[str, str]
    trace_id: str
    def __init__(self, level: _Optional[str] = ..., message: _Optional[str] = ..., component: _Optional[str] = ..., code: _Optional[str] = ..., severity: _Optional[_Union[AlertSeverity, str]] = ..., error_code_enum: _Optional[_Union[ErrorCode, str]] = ..., source_component: _Optional[str] = ..., details: _Optional[_Mapping[str, str]] = ..., trace_id: _Optional[str] = ...) -> None: ...

class WorkerHandshakeChallengeRequest(_message.Message):
    __slots__ = ("request_id", "trace_id", "worker_id", "proof_key_id", "proof_algorithm", "audience", "purpose", "client_nonce", "protocol_version", "sdk_version")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    WORKER_ID_FIELD_NUMBER: _ClassVar[int]
    PROOF_KEY_ID_FIELD_NUMBER: _ClassVar[int]
    PROOF_ALGORITHM_FIELD_NUMBER: _ClassVar[int]
    AUDIENCE_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CLIENT_NONCE_FIELD_NUMBER: _ClassVar[int]
    PROTOCOL_VERSION_FIELD_NUMBER: _ClassVar[int]
    SDK_VERSION_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    trace_id: str
    worker_id: str
    proof_key_id: str
    proof_algorithm: WorkerHandshakeProofAlgorithm
    audience: str
    purpose: WorkerHandshakePurpose
    client_nonce: bytes
    protocol_version: int
    sdk_version: str
    def __init__(self, request_id: _Optional[str] = ..., trace_id: _Optional[str] = ..., worker_id: _Optional[str] = ..., proof_key_id: _Optional[str] = ..., proof_algorithm: _Optional[_Union[WorkerHandshakeProofAlgorithm, str]] = ..., audience: _Optional[str] = ..., purpose: _Optional[_Union[WorkerHandshakePurpose, str]] = ..., client_nonce: _Optional[bytes] = ..., protocol_version: _Optional[int] = ..., sdk_version: _Optional[str] = ...) -> None: ...

class WorkerHandshakeChallenge(_message.Message):
    __slots__ = ("request_id", "challenge_id", "trace_id", "worker_id", "agent_id", "tenant_id", "proof_key_id", "proof_algorithm", "server_key_id", "audience", "purpose", "client_nonce", "server_nonce", "protocol_version", "sdk_version", "issued_at", "expires_at")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    CHALLENGE_ID_FIELD_NUMBER: _ClassVar[int]
    TRACE_ID_FIELD_NUMBER: _ClassVar[int]
    WORKER_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    TENANT_ID_FIELD_NUMBER: _ClassVar[int]
    PROOF_KEY_ID_FIELD_NUMBER: _ClassVar[int]
    PROOF_ALGORITHM_FIELD_NUMBER: _ClassVar[int]
    SERVER_KEY_ID_FIELD_NUMBER: _ClassVar[int]
    AUDIENCE_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    CLIENT_NONCE_FIELD_NUMBER: _ClassVar[int]
    SERVER_NONCE_FIELD_NUMBER: _ClassVar[int]
    PROTOCOL_VERSION_FIELD_NUMBER: _ClassVar[int]
    SDK_VERSION_FIELD_NUMBER: _ClassVar[int]
    ISSUED_AT_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    challenge_id: str
    trace_id: str
    worker_id: str
    agent_id: str
    tenant_id: str
    proof_key_id: str
    proof_algorithm: WorkerHandshakeProofAlgorithm
    server_key_id: str
    audience: str
    purpose: WorkerHandshakePurpose
    client_nonce: bytes
    server_nonce: bytes
    protocol_version: int
    sdk_version: str
    issued_at: _timestamp_pb2.Timestamp
    expires_at: _timestamp_pb2.Timestamp
    def __init__(self, request_id: _Optional[str] = ..., challenge_id: _Optional[str] = ..., trace_id: _Optional[str] = ..., worker_id: _Optional[str] = ..., agent_id: _Optional[str] = ..., tenant_id: _Optional[str] = ..., proof_key_id: _Optional[str] = ..., proof_algorithm: _Optional[_Union[WorkerHandshakeProofAlgorithm, str]] = ..., server_key_id: _Optional[str] = ..., audience: _Optional[str] = ..., purpose: _Optional[_Union[WorkerHandshakePurpose, str]] = ..., client_nonce: _Optional[bytes] = ..., server_nonce: _Optional[bytes] = ..., protocol_version: _Optional[int] = ..., sdk_version: _Optional[str] = ..., issued_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class WorkerHandshakeAuthenticate(_message.Message):
    __slots__ = ("challenge", "capability_handshake")
    CHALLENGE_FIELD_NUMBER: _ClassVar[int]
    CAPABILITY_HANDSHAKE_FIELD_NUMBER: _ClassVar[int]
    challenge: WorkerHandshakeChallenge
    capability_handshake: Handshake
    def __init__(self, challenge: _Optional[_Union[WorkerHandshakeChallenge, _Mapping]] = ..., capability_handshake: _Optional[_Union[Handshake, _Mapping]] = ...) -> None: ...

class WorkerHandshakeResult(_message.Message):
    __slots__ = ("challenge", "accepted", "rejection_reason", "token_expires_at", "issued_at")
    CHALLENGE_FIELD_NUMBER: _ClassVar[int]
    ACCEPTED_FIELD_NUMBER: _ClassVar[int]
    REJECTION_REASON_FIELD_NUMBER: _ClassVar[int]
    TOKEN_EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    ISSUED_AT_FIELD_NUMBER: _ClassVar[int]
    challenge: WorkerHandshakeChallenge
    accepted: bool
    rejection_reason: WorkerHandshakeRejectionReason
    token_expires_at: _timestamp_pb2.Timestamp
    issued_at: _timestamp_pb2.Timestamp
    def __init__(self, challenge: _Optional[_Union[WorkerHandshakeChallenge, _Mapping]] = ..., accepted: bool = ..., rejection_reason: _Optional[_Union[WorkerHandshakeRejectionReason, str]] = ..., token_expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., issued_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...
