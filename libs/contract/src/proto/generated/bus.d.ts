import * as $protobuf from "protobufjs/minimal";
import Long = require("long");

/** Namespace svc. */
export namespace svc {

    /** Namespace agent. */
    namespace agent {

        /** Namespace v1. */
        namespace v1 {

            /**
             * Properties of a BusPacket.
             * @deprecated Use svc.agent.v1.BusPacket.$Properties instead.
             */
            interface IBusPacket extends svc.agent.v1.BusPacket.$Properties {
            }

            /** Represents a BusPacket. */
            class BusPacket {

                /**
                 * Constructs a new BusPacket.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: svc.agent.v1.BusPacket.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** BusPacket trace_id. */
                trace_id: string;

                /** BusPacket sender_id. */
                sender_id: string;

                /** BusPacket created_at. */
                created_at?: (google.protobuf.Timestamp.$Properties|null);

                /** BusPacket protocol_version. */
                protocol_version: number;

                /** BusPacket signature_metadata. */
                signature_metadata?: (svc.agent.v1.SignatureMetadata.$Properties|null);

                /** BusPacket identity. */
                identity?: (svc.agent.v1.IdentityBinding.$Properties|null);

                /** BusPacket job_request. */
                job_request?: (svc.agent.v1.JobRequest.$Properties|null);

                /** BusPacket job_result. */
                job_result?: (svc.agent.v1.JobResult.$Properties|null);

                /** BusPacket heartbeat. */
                heartbeat?: (svc.agent.v1.Heartbeat.$Properties|null);

                /** BusPacket alert. */
                alert?: (svc.agent.v1.SystemAlert.$Properties|null);

                /** BusPacket job_progress. */
                job_progress?: (svc.agent.v1.JobProgress.$Properties|null);

                /** BusPacket job_cancel. */
                job_cancel?: (svc.agent.v1.JobCancel.$Properties|null);

                /** BusPacket handshake. */
                handshake?: (svc.agent.v1.Handshake.$Properties|null);

                /** BusPacket worker_handshake_challenge_request. */
                worker_handshake_challenge_request?: (svc.agent.v1.WorkerHandshakeChallengeRequest.$Properties|null);

                /** BusPacket worker_handshake_challenge. */
                worker_handshake_challenge?: (svc.agent.v1.WorkerHandshakeChallenge.$Properties|null);

                /** BusPacket worker_handshake_authenticate. */
                worker_handshake_authenticate?: (svc.agent.v1.WorkerHandshakeAuthenticate.$Properties|null);

                /** BusPacket worker_handshake_result. */
                worker_handshake_result?: (svc.agent.v1.WorkerHandshakeResult.$Properties|null);

                /** BusPacket signature. */
                signature: Uint8Array;

                /** BusPacket auth_token. */
                auth_token: string;

                /** BusPacket payload. */
                payload?: ("job_request"|"job_result"|"heartbeat"|"alert"|"job_progress"|"job_cancel"|"handshake"|"worker_handshake_challenge_request"|"worker_handshake_challenge"|"worker_handshake_authenticate"|"worker_handshake_result");

                /**
                 * Encodes the specified BusPacket message. Does not implicitly {@link svc.agent.v1.BusPacket.verify|verify} messages.
                 * @param message BusPacket message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: svc.agent.v1.BusPacket.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a BusPacket message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {svc.agent.v1.BusPacket & svc.agent.v1.BusPacket.$Shape} BusPacket
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): svc.agent.v1.BusPacket & svc.agent.v1.BusPacket.$Shape;
            }

            namespace BusPacket {

                /** Properties of a BusPacket. */
                interface $Properties {

                    /** BusPacket trace_id */
                    trace_id?: (string|null);

                    /** BusPacket sender_id */
                    sender_id?: (string|null);

                    /** BusPacket created_at */
                    created_at?: (google.protobuf.Timestamp.$Properties|null);

                    /** BusPacket protocol_version */
                    protocol_version?: (number|null);

                    /** BusPacket signature_metadata */
                    signature_metadata?: (svc.agent.v1.SignatureMetadata.$Properties|null);

                    /** BusPacket identity */
                    identity?: (svc.agent.v1.IdentityBinding.$Properties|null);

                    /** BusPacket job_request */
                    job_request?: (svc.agent.v1.JobRequest.$Properties|null);

                    /** BusPacket job_result */
                    job_result?: (svc.agent.v1.JobResult.$Properties|null);

                    /** BusPacket heartbeat */
                    heartbeat?: (svc.agent.v1.Heartbeat.$Properties|null);

                    /** BusPacket alert */
                    alert?: (svc.agent.v1.SystemAlert.$Properties|null);

                    /** BusPacket job_progress */
                    job_progress?: (svc.agent.v1.JobProgress.$Properties|null);

                    /** BusPacket job_cancel */
                    job_cancel?: (svc.agent.v1.JobCancel.$Properties|null);

                    /** BusPacket handshake */
                    handshake?: (svc.agent.v1.Handshake.$Properties|null);

                    /** BusPacket worker_handshake_challenge_request */
                    worker_handshake_challenge_request?: (svc.agent.v1.WorkerHandshakeChallengeRequest.$Properties|null);

                    /** BusPacket worker_handshake_challenge */
                    worker_handshake_challenge?: (svc.agent.v1.WorkerHandshakeChallenge.$Properties|null);

                    /** BusPacket worker_handshake_authenticate */
                    worker_handshake_authenticate?: (svc.agent.v1.WorkerHandshakeAuthenticate.$Properties|null);

                    /** BusPacket worker_handshake_result */
                    worker_handshake_result?: (svc.agent.v1.WorkerHandshakeResult.$Properties|null);

                    /** BusPacket signature */
                    signature?: (Uint8Array|null);

                    /** BusPacket auth_token */
                    auth_token?: (string|null);

                    /** BusPacket payload */
                    payload?: ("job_request"|"job_result"|"heartbeat"|"alert"|"job_progress"|"job_cancel"|"handshake"|"worker_handshake_challenge_request"|"worker_handshake_challenge"|"worker_handshake_authenticate"|"worker_handshake_result");

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Narrowed shape of a BusPacket. */
                type $Shape = {
                  trace_id?: string|null;
                  sender_id?: string|null;
                  created_at?: google.protobuf.Timestamp.$Shape|null;
                  protocol_version?: number|null;
                  signature_metadata?: svc.agent.v1.SignatureMetadata.$Shape|null;
                  identity?: svc.agent.v1.IdentityBinding.$Shape|null;
                  job_request?: svc.agent.v1.JobRequest.$Shape|null;
                  job_result?: svc.agent.v1.JobResult.$Shape|null;
                  heartbeat?: svc.agent.v1.Heartbeat.$Shape|null;
                  alert?: svc.agent.v1.SystemAlert.$Shape|null;
                  job_progress?: svc.agent.v1.JobProgress.$Shape|null;
                  job_cancel?: svc.agent.v1.JobCancel.$Shape|null;
                  handshake?: svc.agent.v1.Handshake.$Shape|null;
                  worker_handshake_challenge_request?: svc.agent.v1.WorkerHandshakeChallengeRequest.$Shape|null;
                  worker_handshake_challenge?: svc.agent.v1.WorkerHandshakeChallenge.$Shape|null;
                  worker_handshake_authenticate?: svc.agent.v1.WorkerHandshakeAuthenticate.$Shape|null;
                  worker_handshake_result?: svc.agent.v1.WorkerHandshakeResult.$Shape|null;
                  signature?: Uint8Array|null;
                  auth_token?: string|null;
                  $unknowns?: Uint8Array[];
                } & (
                  ({ payload?: undefined; job_request?: null; job_result?: null; heartbeat?: null; alert?: null; job_progress?: null; job_cancel?: null; handshake?: null; worker_handshake_challenge_request?: null; worker_handshake_challenge?: null; worker_handshake_authenticate?: null; worker_handshake_result?: null }|{ payload?: "job_request"; job_request: svc.agent.v1.JobRequest.$Shape; job_result?: null; heartbeat?: null; alert?: null; job_progress?: null; job_cancel?: null; handshake?: null; worker_handshake_challenge_request?: null; worker_handshake_challenge?: null; worker_handshake_authenticate?: null; worker_handshake_result?: null }|{ payload?: "job_result"; job_request?: null; job_result: svc.agent.v1.JobResult.$Shape; heartbeat?: null; alert?: null; job_progress?: null; job_cancel?: null; handshake?: null; worker_handshake_challenge_request?: null; worker_handshake_challenge?: null; worker_handshake_authenticate?: null; worker_handshake_result?: null }|{ payload?: "heartbeat"; job_request?: null; job_result?: null; heartbeat: svc.agent.v1.Heartbeat.$Shape; alert?: null; job_progress?: null; job_cancel?: null; handshake?: null; worker_handshake_challenge_request?: null; worker_handshake_challenge?: null; worker_handshake_authenticate?: null; worker_handshake_result?: null }|{ payload?: "alert"; job_request?: null; job_result?: null; heartbeat?: null; alert: svc.agent.v1.SystemAlert.$Shape; job_progress?: null; job_cancel?: null; handshake?: null; worker_handshake_challenge_request?: null; worker_handshake_challenge?: null; worker_handshake_authenticate?: null; worker_handshake_result?: null }|{ payload?: "job_progress"; job_request?: null; job_result?: null; heartbeat?: null; alert?: null; job_progress: svc.agent.v1.JobProgress.$Shape; job_cancel?: null; handshake?: null; worker_handshake_challenge_request?: null; worker_handshake_challenge?: null; worker_handshake_authenticate?: null; worker_handshake_result?: null }|{ payload?: "job_cancel"; job_request?: null; job_result?: null; heartbeat?: null; alert?: null; job_progress?: null; job_cancel: svc.agent.v1.JobCancel.$Shape; handshake?: null; worker_handshake_challenge_request?: null; worker_handshake_challenge?: null; worker_handshake_authenticate?: null; worker_handshake_result?: null }|{ payload?: "handshake"; job_request?: null; job_result?: null; heartbeat?: null; alert?: null; job_progress?: null; job_cancel?: null; handshake: svc.agent.v1.Handshake.$Shape; worker_handshake_challenge_request?: null; worker_handshake_challenge?: null; worker_handshake_authenticate?: null; worker_handshake_result?: null }|{ payload?: "worker_handshake_challenge_request"; job_request?: null; job_result?: null; heartbeat?: null; alert?: null; job_progress?: null; job_cancel?: null; handshake?: null; worker_handshake_challenge_request: svc.agent.v1.WorkerHandshakeChallengeRequest.$Shape; worker_handshake_challenge?: null; worker_handshake_authenticate?: null; worker_handshake_result?: null }|{ payload?: "worker_handshake_challenge"; job_request?: null; job_result?: null; heartbeat?: null; alert?: null; job_progress?: null; job_cancel?: null; handshake?: null; worker_handshake_challenge_request?: null; worker_handshake_challenge: svc.agent.v1.WorkerHandshakeChallenge.$Shape; worker_handshake_authenticate?: null; worker_handshake_result?: null }|{ payload?: "worker_handshake_authenticate"; job_request?: null; job_result?: null; heartbeat?: null; alert?: null; job_progress?: null; job_cancel?: null; handshake?: null; worker_handshake_challenge_request?: null; worker_handshake_challenge?: null; worker_handshake_authenticate: svc.agent.v1.WorkerHandshakeAuthenticate.$Shape; worker_handshake_result?: null }|{ payload?: "worker_handshake_result"; job_request?: null; job_result?: null; heartbeat?: null; alert?: null; job_progress?: null; job_cancel?: null; handshake?: null; worker_handshake_challenge_request?: null; worker_handshake_challenge?: null; worker_handshake_authenticate?: null; worker_handshake_result: svc.agent.v1.WorkerHandshakeResult.$Shape })
                );
            }

            /**
             * Properties of a SignatureMetadata.
             * @deprecated Use svc.agent.v1.SignatureMetadata.$Properties instead.
             */
            interface ISignatureMetadata extends svc.agent.v1.SignatureMetadata.$Properties {
            }

            /** Represents a SignatureMetadata. */
            class SignatureMetadata {

                /**
                 * Constructs a new SignatureMetadata.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: svc.agent.v1.SignatureMetadata.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** SignatureMetadata profile_version. */
                profile_version: string;

                /** SignatureMetadata algorithm. */
                algorithm: string;

                /** SignatureMetadata message_id. */
                message_id: Uint8Array;

                /** SignatureMetadata audience. */
                audience: string;

                /** SignatureMetadata expires_at. */
                expires_at?: (google.protobuf.Timestamp.$Properties|null);

                /** SignatureMetadata key_id. */
                key_id: string;

                /**
                 * Encodes the specified SignatureMetadata message. Does not implicitly {@link svc.agent.v1.SignatureMetadata.verify|verify} messages.
                 * @param message SignatureMetadata message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: svc.agent.v1.SignatureMetadata.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a SignatureMetadata message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {svc.agent.v1.SignatureMetadata & svc.agent.v1.SignatureMetadata.$Shape} SignatureMetadata
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): svc.agent.v1.SignatureMetadata & svc.agent.v1.SignatureMetadata.$Shape;
            }

            namespace SignatureMetadata {

                /** Properties of a SignatureMetadata. */
                interface $Properties {

                    /** SignatureMetadata profile_version */
                    profile_version?: (string|null);

                    /** SignatureMetadata algorithm */
                    algorithm?: (string|null);

                    /** SignatureMetadata message_id */
                    message_id?: (Uint8Array|null);

                    /** SignatureMetadata audience */
                    audience?: (string|null);

                    /** SignatureMetadata expires_at */
                    expires_at?: (google.protobuf.Timestamp.$Properties|null);

                    /** SignatureMetadata key_id */
                    key_id?: (string|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a SignatureMetadata. */
                type $Shape = svc.agent.v1.SignatureMetadata.$Properties;
            }

            /**
             * Properties of an IdentityBinding.
             * @deprecated Use svc.agent.v1.IdentityBinding.$Properties instead.
             */
            interface IIdentityBinding extends svc.agent.v1.IdentityBinding.$Properties {
            }

            /** Represents an IdentityBinding. */
            class IdentityBinding {

                /**
                 * Constructs a new IdentityBinding.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: svc.agent.v1.IdentityBinding.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** IdentityBinding tenant_id. */
                tenant_id: string;

                /** IdentityBinding principal_id. */
                principal_id: string;

                /** IdentityBinding actor_id. */
                actor_id: string;

                /** IdentityBinding delegation_id. */
                delegation_id: string;

                /**
                 * Encodes the specified IdentityBinding message. Does not implicitly {@link svc.agent.v1.IdentityBinding.verify|verify} messages.
                 * @param message IdentityBinding message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: svc.agent.v1.IdentityBinding.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes an IdentityBinding message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {svc.agent.v1.IdentityBinding & svc.agent.v1.IdentityBinding.$Shape} IdentityBinding
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): svc.agent.v1.IdentityBinding & svc.agent.v1.IdentityBinding.$Shape;
            }

            namespace IdentityBinding {

                /** Properties of an IdentityBinding. */
                interface $Properties {

                    /** IdentityBinding tenant_id */
                    tenant_id?: (string|null);

                    /** IdentityBinding principal_id */
                    principal_id?: (string|null);

                    /** IdentityBinding actor_id */
                    actor_id?: (string|null);

                    /** IdentityBinding delegation_id */
                    delegation_id?: (string|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of an IdentityBinding. */
                type $Shape = svc.agent.v1.IdentityBinding.$Properties;
            }

            /**
             * Properties of a DispatchIdentity.
             * @deprecated Use svc.agent.v1.DispatchIdentity.$Properties instead.
             */
            interface IDispatchIdentity extends svc.agent.v1.DispatchIdentity.$Properties {
            }

            /** Represents a DispatchIdentity. */
            class DispatchIdentity {

                /**
                 * Constructs a new DispatchIdentity.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: svc.agent.v1.DispatchIdentity.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** DispatchIdentity dispatch_id. */
                dispatch_id: string;

                /** DispatchIdentity attempt. */
                attempt: number;

                /** DispatchIdentity assigned_worker_id. */
                assigned_worker_id: string;

                /**
                 * Encodes the specified DispatchIdentity message. Does not implicitly {@link svc.agent.v1.DispatchIdentity.verify|verify} messages.
                 * @param message DispatchIdentity message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: svc.agent.v1.DispatchIdentity.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a DispatchIdentity message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {svc.agent.v1.DispatchIdentity & svc.agent.v1.DispatchIdentity.$Shape} DispatchIdentity
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): svc.agent.v1.DispatchIdentity & svc.agent.v1.DispatchIdentity.$Shape;
            }

            namespace DispatchIdentity {

                /** Properties of a DispatchIdentity. */
                interface $Properties {

                    /** DispatchIdentity dispatch_id */
                    dispatch_id?: (string|null);

                    /** DispatchIdentity attempt */
                    attempt?: (number|null);

                    /** DispatchIdentity assigned_worker_id */
                    assigned_worker_id?: (string|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a DispatchIdentity. */
                type $Shape = svc.agent.v1.DispatchIdentity.$Properties;
            }

            /**
             * Properties of a ResourceRef.
             * @deprecated Use svc.agent.v1.ResourceRef.$Properties instead.
             */
            interface IResourceRef extends svc.agent.v1.ResourceRef.$Properties {
            }

            /** Represents a ResourceRef. */
            class ResourceRef {

                /**
                 * Constructs a new ResourceRef.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: svc.agent.v1.ResourceRef.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** ResourceRef resolver_id. */
                resolver_id: string;

                /** ResourceRef uri. */
                uri: string;

                /** ResourceRef sha256. */
                sha256: Uint8Array;

                /** ResourceRef media_type. */
                media_type: string;

                /** ResourceRef size_bytes. */
                size_bytes: number;

                /** ResourceRef expires_at. */
                expires_at?: (google.protobuf.Timestamp.$Properties|null);

                /** ResourceRef purpose. */
                purpose: string;

                /**
                 * Encodes the specified ResourceRef message. Does not implicitly {@link svc.agent.v1.ResourceRef.verify|verify} messages.
                 * @param message ResourceRef message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: svc.agent.v1.ResourceRef.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a ResourceRef message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {svc.agent.v1.ResourceRef & svc.agent.v1.ResourceRef.$Shape} ResourceRef
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): svc.agent.v1.ResourceRef & svc.agent.v1.ResourceRef.$Shape;
            }

            namespace ResourceRef {

                /** Properties of a ResourceRef. */
                interface $Properties {

                    /** ResourceRef resolver_id */
                    resolver_id?: (string|null);

                    /** ResourceRef uri */
                    uri?: (string|null);

                    /** ResourceRef sha256 */
                    sha256?: (Uint8Array|null);

                    /** ResourceRef media_type */
                    media_type?: (string|null);

                    /** ResourceRef size_bytes */
                    size_bytes?: (number|null);

                    /** ResourceRef expires_at */
                    expires_at?: (google.protobuf.Timestamp.$Properties|null);

                    /** ResourceRef purpose */
                    purpose?: (string|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a ResourceRef. */
                type $Shape = svc.agent.v1.ResourceRef.$Properties;
            }

            /** JobPriority enum. */
            enum JobPriority {

                /** JOB_PRIORITY_UNSPECIFIED value */
                JOB_PRIORITY_UNSPECIFIED = 0,

                /** JOB_PRIORITY_INTERACTIVE value */
                JOB_PRIORITY_INTERACTIVE = 1,

                /** JOB_PRIORITY_BATCH value */
                JOB_PRIORITY_BATCH = 2,

                /** JOB_PRIORITY_CRITICAL value */
                JOB_PRIORITY_CRITICAL = 3
            }

            /** JobStatus enum. */
            enum JobStatus {

                /** JOB_STATUS_UNSPECIFIED value */
                JOB_STATUS_UNSPECIFIED = 0,

                /** JOB_STATUS_PENDING value */
                JOB_STATUS_PENDING = 1,

                /** JOB_STATUS_SCHEDULED value */
                JOB_STATUS_SCHEDULED = 2,

                /** JOB_STATUS_DISPATCHED value */
                JOB_STATUS_DISPATCHED = 3,

                /** JOB_STATUS_RUNNING value */
                JOB_STATUS_RUNNING = 4,

                /** JOB_STATUS_SUCCEEDED value */
                JOB_STATUS_SUCCEEDED = 5,

                /** JOB_STATUS_FAILED value */
                JOB_STATUS_FAILED = 6,

                /** JOB_STATUS_CANCELLED value */
                JOB_STATUS_CANCELLED = 7,

                /** JOB_STATUS_DENIED value */
                JOB_STATUS_DENIED = 8,

                /** JOB_STATUS_TIMEOUT value */
                JOB_STATUS_TIMEOUT = 9,

                /** JOB_STATUS_FAILED_RETRYABLE value */
                JOB_STATUS_FAILED_RETRYABLE = 10,

                /** JOB_STATUS_FAILED_FATAL value */
                JOB_STATUS_FAILED_FATAL = 11
            }

            /** ActorType enum. */
            enum ActorType {

                /** ACTOR_TYPE_UNSPECIFIED value */
                ACTOR_TYPE_UNSPECIFIED = 0,

                /** ACTOR_TYPE_HUMAN value */
                ACTOR_TYPE_HUMAN = 1,

                /** ACTOR_TYPE_SERVICE value */
                ACTOR_TYPE_SERVICE = 2
            }

            /** AlertSeverity enum. */
            enum AlertSeverity {

                /** ALERT_SEVERITY_UNSPECIFIED value */
                ALERT_SEVERITY_UNSPECIFIED = 0,

                /** ALERT_SEVERITY_INFO value */
                ALERT_SEVERITY_INFO = 1,

                /** ALERT_SEVERITY_WARNING value */
                ALERT_SEVERITY_WARNING = 2,

                /** ALERT_SEVERITY_ERROR value */
                ALERT_SEVERITY_ERROR = 3,

                /** ALERT_SEVERITY_CRITICAL value */
                ALERT_SEVERITY_CRITICAL = 4
            }

            /** ComponentRole enum. */
            enum ComponentRole {

                /** COMPONENT_ROLE_UNSPECIFIED value */
                COMPONENT_ROLE_UNSPECIFIED = 0,

                /** COMPONENT_ROLE_GATEWAY value */
                COMPONENT_ROLE_GATEWAY = 1,

                /** COMPONENT_ROLE_SCHEDULER value */
                COMPONENT_ROLE_SCHEDULER = 2,

                /** COMPONENT_ROLE_WORKER value */
                COMPONENT_ROLE_WORKER = 3,

                /** COMPONENT_ROLE_ORCHESTRATOR value */
                COMPONENT_ROLE_ORCHESTRATOR = 4,

                /** COMPONENT_ROLE_CONTROLLER value */
                COMPONENT_ROLE_CONTROLLER = 5
            }

            /** ErrorCode enum. */
            enum ErrorCode {

                /** ERROR_CODE_UNSPECIFIED value */
                ERROR_CODE_UNSPECIFIED = 0,

                /** ERROR_CODE_PROTOCOL_VERSION_MISMATCH value */
                ERROR_CODE_PROTOCOL_VERSION_MISMATCH = 100,

                /** ERROR_CODE_MALFORMED_PACKET value */
                ERROR_CODE_MALFORMED_PACKET = 101,

                /** ERROR_CODE_UNKNOWN_PAYLOAD value */
                ERROR_CODE_UNKNOWN_PAYLOAD = 102,

                /** ERROR_CODE_SIGNATURE_INVALID value */
                ERROR_CODE_SIGNATURE_INVALID = 103,

                /** ERROR_CODE_SIGNATURE_MISSING value */
                ERROR_CODE_SIGNATURE_MISSING = 104,

                /** ERROR_CODE_JOB_TIMEOUT value */
                ERROR_CODE_JOB_TIMEOUT = 200,

                /** ERROR_CODE_RESOURCE_EXHAUSTED value */
                ERROR_CODE_RESOURCE_EXHAUSTED = 201,

                /** ERROR_CODE_PERMISSION_DENIED value */
                ERROR_CODE_PERMISSION_DENIED = 202,

                /** ERROR_CODE_INVALID_INPUT value */
                ERROR_CODE_INVALID_INPUT = 203,

                /** ERROR_CODE_NOT_FOUND value */
                ERROR_CODE_NOT_FOUND = 204,

                /** ERROR_CODE_DUPLICATE value */
                ERROR_CODE_DUPLICATE = 205,

                /** ERROR_CODE_WORKER_UNAVAILABLE value */
                ERROR_CODE_WORKER_UNAVAILABLE = 206,

                /** ERROR_CODE_SAFETY_DENIED value */
                ERROR_CODE_SAFETY_DENIED = 300,

                /** ERROR_CODE_POLICY_VIOLATION value */
                ERROR_CODE_POLICY_VIOLATION = 301,

                /** ERROR_CODE_RISK_TAG_BLOCKED value */
                ERROR_CODE_RISK_TAG_BLOCKED = 302,

                /** ERROR_CODE_TRANSPORT_PUBLISH_FAILED value */
                ERROR_CODE_TRANSPORT_PUBLISH_FAILED = 400,

                /** ERROR_CODE_TRANSPORT_SUBSCRIBE_FAILED value */
                ERROR_CODE_TRANSPORT_SUBSCRIBE_FAILED = 401,

                /** ERROR_CODE_CONNECTION_LOST value */
                ERROR_CODE_CONNECTION_LOST = 402
            }

            /** WorkerHandshakePurpose enum. */
            enum WorkerHandshakePurpose {

                /** WORKER_HANDSHAKE_PURPOSE_UNSPECIFIED value */
                WORKER_HANDSHAKE_PURPOSE_UNSPECIFIED = 0,

                /** WORKER_HANDSHAKE_PURPOSE_ISSUE value */
                WORKER_HANDSHAKE_PURPOSE_ISSUE = 1,

                /** WORKER_HANDSHAKE_PURPOSE_RENEW value */
                WORKER_HANDSHAKE_PURPOSE_RENEW = 2
            }

            /** WorkerHandshakeProofAlgorithm enum. */
            enum WorkerHandshakeProofAlgorithm {

                /** WORKER_HANDSHAKE_PROOF_ALGORITHM_UNSPECIFIED value */
                WORKER_HANDSHAKE_PROOF_ALGORITHM_UNSPECIFIED = 0,

                /** WORKER_HANDSHAKE_PROOF_ALGORITHM_ECDSA_P256_SHA256 value */
                WORKER_HANDSHAKE_PROOF_ALGORITHM_ECDSA_P256_SHA256 = 1
            }

            /** WorkerHandshakeRejectionReason enum. */
            enum WorkerHandshakeRejectionReason {

                /** WORKER_HANDSHAKE_REJECTION_REASON_UNSPECIFIED value */
                WORKER_HANDSHAKE_REJECTION_REASON_UNSPECIFIED = 0,

                /** WORKER_HANDSHAKE_REJECTION_REASON_INVALID_REQUEST value */
                WORKER_HANDSHAKE_REJECTION_REASON_INVALID_REQUEST = 1,

                /** WORKER_HANDSHAKE_REJECTION_REASON_AUTHENTICATION_FAILED value */
                WORKER_HANDSHAKE_REJECTION_REASON_AUTHENTICATION_FAILED = 2,

                /** WORKER_HANDSHAKE_REJECTION_REASON_REPLAY_DETECTED value */
                WORKER_HANDSHAKE_REJECTION_REASON_REPLAY_DETECTED = 3,

                /** WORKER_HANDSHAKE_REJECTION_REASON_CLOCK_SKEW value */
                WORKER_HANDSHAKE_REJECTION_REASON_CLOCK_SKEW = 4,

                /** WORKER_HANDSHAKE_REJECTION_REASON_CHALLENGE_EXPIRED value */
                WORKER_HANDSHAKE_REJECTION_REASON_CHALLENGE_EXPIRED = 5,

                /** WORKER_HANDSHAKE_REJECTION_REASON_SESSION_REQUIRED value */
                WORKER_HANDSHAKE_REJECTION_REASON_SESSION_REQUIRED = 6,

                /** WORKER_HANDSHAKE_REJECTION_REASON_SESSION_INVALID value */
                WORKER_HANDSHAKE_REJECTION_REASON_SESSION_INVALID = 7,

                /** WORKER_HANDSHAKE_REJECTION_REASON_UNSUPPORTED_VERSION value */
                WORKER_HANDSHAKE_REJECTION_REASON_UNSUPPORTED_VERSION = 8,

                /** WORKER_HANDSHAKE_REJECTION_REASON_INTERNAL_ERROR value */
                WORKER_HANDSHAKE_REJECTION_REASON_INTERNAL_ERROR = 9
            }

            /**
             * Properties of a JobRequest.
             * @deprecated Use svc.agent.v1.JobRequest.$Properties instead.
             */
            interface IJobRequest extends svc.agent.v1.JobRequest.$Properties {
            }

            /** Represents a JobRequest. */
            class JobRequest {

                /**
                 * Constructs a new JobRequest.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: svc.agent.v1.JobRequest.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** JobRequest job_id. */
                job_id: string;

                /** JobRequest topic. */
                topic: string;

                /** JobRequest priority. */
                priority: svc.agent.v1.JobPriority;

                /** JobRequest context_ptr. */
                context_ptr: string;

                /** JobRequest adapter_id. */
                adapter_id: string;

                /** JobRequest env. */
                env: { [k: string]: string };

                /** JobRequest parent_job_id. */
                parent_job_id: string;

                /** JobRequest workflow_id. */
                workflow_id: string;

                /** JobRequest step_index. */
                step_index: number;

                /** JobRequest memory_id. */
                memory_id: string;

                /** JobRequest context_hints. */
                context_hints?: (svc.agent.v1.ContextHints.$Properties|null);

                /** JobRequest budget. */
                budget?: (svc.agent.v1.Budget.$Properties|null);

                /** JobRequest tenant_id. */
                tenant_id: string;

                /** JobRequest principal_id. */
                principal_id: string;

                /** JobRequest labels. */
                labels: { [k: string]: string };

                /** JobRequest meta. */
                meta?: (svc.agent.v1.JobMetadata.$Properties|null);

                /** JobRequest compensation. */
                compensation?: (svc.agent.v1.Compensation.$Properties|null);

                /** JobRequest identity. */
                identity?: (svc.agent.v1.IdentityBinding.$Properties|null);

                /** JobRequest dispatch. */
                dispatch?: (svc.agent.v1.DispatchIdentity.$Properties|null);

                /** JobRequest context_ref. */
                context_ref?: (svc.agent.v1.ResourceRef.$Properties|null);

                /** JobRequest inline_input. */
                inline_input: Uint8Array;

                /** JobRequest result_ticket. */
                result_ticket: Uint8Array;

                /** JobRequest grant. */
                grant: Uint8Array;

                /**
                 * Encodes the specified JobRequest message. Does not implicitly {@link svc.agent.v1.JobRequest.verify|verify} messages.
                 * @param message JobRequest message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: svc.agent.v1.JobRequest.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a JobRequest message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {svc.agent.v1.JobRequest & svc.agent.v1.JobRequest.$Shape} JobRequest
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): svc.agent.v1.JobRequest & svc.agent.v1.JobRequest.$Shape;
            }

            namespace JobRequest {

                /** Properties of a JobRequest. */
                interface $Properties {

                    /** JobRequest job_id */
                    job_id?: (string|null);

                    /** JobRequest topic */
                    topic?: (string|null);

                    /** JobRequest priority */
                    priority?: (svc.agent.v1.JobPriority|null);

                    /** JobRequest context_ptr */
                    context_ptr?: (string|null);

                    /** JobRequest adapter_id */
                    adapter_id?: (string|null);

                    /** JobRequest env */
                    env?: ({ [k: string]: string }|null);

                    /** JobRequest parent_job_id */
                    parent_job_id?: (string|null);

                    /** JobRequest workflow_id */
                    workflow_id?: (string|null);

                    /** JobRequest step_index */
                    step_index?: (number|null);

                    /** JobRequest memory_id */
                    memory_id?: (string|null);

                    /** JobRequest context_hints */
                    context_hints?: (svc.agent.v1.ContextHints.$Properties|null);

                    /** JobRequest budget */
                    budget?: (svc.agent.v1.Budget.$Properties|null);

                    /** JobRequest tenant_id */
                    tenant_id?: (string|null);

                    /** JobRequest principal_id */
                    principal_id?: (string|null);

                    /** JobRequest labels */
                    labels?: ({ [k: string]: string }|null);

                    /** JobRequest meta */
                    meta?: (svc.agent.v1.JobMetadata.$Properties|null);

                    /** JobRequest compensation */
                    compensation?: (svc.agent.v1.Compensation.$Properties|null);

                    /** JobRequest identity */
                    identity?: (svc.agent.v1.IdentityBinding.$Properties|null);

                    /** JobRequest dispatch */
                    dispatch?: (svc.agent.v1.DispatchIdentity.$Properties|null);

                    /** JobRequest context_ref */
                    context_ref?: (svc.agent.v1.ResourceRef.$Properties|null);

                    /** JobRequest inline_input */
                    inline_input?: (Uint8Array|null);

                    /** JobRequest result_ticket */
                    result_ticket?: (Uint8Array|null);

                    /** JobRequest grant */
                    grant?: (Uint8Array|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a JobRequest. */
                type $Shape = svc.agent.v1.JobRequest.$Properties;
            }

            /**
             * Properties of a ContextHints.
             * @deprecated Use svc.agent.v1.ContextHints.$Properties instead.
             */
            interface IContextHints extends svc.agent.v1.ContextHints.$Properties {
            }

            /** Represents a ContextHints. */
            class ContextHints {

                /**
                 * Constructs a new ContextHints.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: svc.agent.v1.ContextHints.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** ContextHints max_input_tokens. */
                max_input_tokens: number;

                /** ContextHints allow_summarization. */
                allow_summarization: boolean;

                /** ContextHints allow_retrieval. */
                allow_retrieval: boolean;

                /** ContextHints tags. */
                tags: string[];

                /**
                 * Encodes the specified ContextHints message. Does not implicitly {@link svc.agent.v1.ContextHints.verify|verify} messages.
                 * @param message ContextHints message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: svc.agent.v1.ContextHints.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a ContextHints message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {svc.agent.v1.ContextHints & svc.agent.v1.ContextHints.$Shape} ContextHints
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): svc.agent.v1.ContextHints & svc.agent.v1.ContextHints.$Shape;
            }

            namespace ContextHints {

                /** Properties of a ContextHints. */
                interface $Properties {

                    /** ContextHints max_input_tokens */
                    max_input_tokens?: (number|null);

                    /** ContextHints allow_summarization */
                    allow_summarization?: (boolean|null);

                    /** ContextHints allow_retrieval */
                    allow_retrieval?: (boolean|null);

                    /** ContextHints tags */
                    tags?: (string[]|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a ContextHints. */
                type $Shape = svc.agent.v1.ContextHints.$Properties;
            }

            /**
             * Properties of a Budget.
             * @deprecated Use svc.agent.v1.Budget.$Properties instead.
             */
            interface IBudget extends svc.agent.v1.Budget.$Properties {
            }

            /** Represents a Budget. */
            class Budget {

                /**
                 * Constructs a new Budget.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: svc.agent.v1.Budget.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** Budget max_input_tokens. */
                max_input_tokens: number;

                /** Budget max_output_tokens. */
                max_output_tokens: number;

                /** Budget max_total_tokens. */
                max_total_tokens: number;

                /** Budget deadline_ms. */
                deadline_ms: number;

                /**
                 * Encodes the specified Budget message. Does not implicitly {@link svc.agent.v1.Budget.verify|verify} messages.
                 * @param message Budget message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: svc.agent.v1.Budget.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a Budget message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {svc.agent.v1.Budget & svc.agent.v1.Budget.$Shape} Budget
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): svc.agent.v1.Budget & svc.agent.v1.Budget.$Shape;
            }

            namespace Budget {

                /** Properties of a Budget. */
                interface $Properties {

                    /** Budget max_input_tokens */
                    max_input_tokens?: (number|null);

                    /** Budget max_output_tokens */
                    max_output_tokens?: (number|null);

                    /** Budget max_total_tokens */
                    max_total_tokens?: (number|null);

                    /** Budget deadline_ms */
                    deadline_ms?: (number|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a Budget. */
                type $Shape = svc.agent.v1.Budget.$Properties;
            }

            /**
             * Properties of a JobMetadata.
             * @deprecated Use svc.agent.v1.JobMetadata.$Properties instead.
             */
            interface IJobMetadata extends svc.agent.v1.JobMetadata.$Properties {
            }

            /** Represents a JobMetadata. */
            class JobMetadata {

                /**
                 * Constructs a new JobMetadata.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: svc.agent.v1.JobMetadata.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** JobMetadata tenant_id. */
                tenant_id: string;

                /** JobMetadata actor_id. */
                actor_id: string;

                /** JobMetadata actor_type. */
                actor_type: svc.agent.v1.ActorType;

                /** JobMetadata idempotency_key. */
                idempotency_key: string;

                /** JobMetadata capability. */
                capability: string;

                /** JobMetadata risk_tags. */
                risk_tags: string[];

                /** JobMetadata requires. */
                requires: string[];

                /** JobMetadata pack_id. */
                pack_id: string;

                /** JobMetadata labels. */
                labels: { [k: string]: string };

                /**
                 * Encodes the specified JobMetadata message. Does not implicitly {@link svc.agent.v1.JobMetadata.verify|verify} messages.
                 * @param message JobMetadata message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: svc.agent.v1.JobMetadata.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a JobMetadata message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {svc.agent.v1.JobMetadata & svc.agent.v1.JobMetadata.$Shape} JobMetadata
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): svc.agent.v1.JobMetadata & svc.agent.v1.JobMetadata.$Shape;
            }

            namespace JobMetadata {

                /** Properties of a JobMetadata. */
                interface $Properties {

                    /** JobMetadata tenant_id */
                    tenant_id?: (string|null);

                    /** JobMetadata actor_id */
                    actor_id?: (string|null);

                    /** JobMetadata actor_type */
                    actor_type?: (svc.agent.v1.ActorType|null);

                    /** JobMetadata idempotency_key */
                    idempotency_key?: (string|null);

                    /** JobMetadata capability */
                    capability?: (string|null);

                    /** JobMetadata risk_tags */
                    risk_tags?: (string[]|null);

                    /** JobMetadata requires */
                    requires?: (string[]|null);

                    /** JobMetadata pack_id */
                    pack_id?: (string|null);

                    /** JobMetadata labels */
                    labels?: ({ [k: string]: string }|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a JobMetadata. */
                type $Shape = svc.agent.v1.JobMetadata.$Properties;
            }

            /**
             * Properties of a Compensation.
             * @deprecated Use svc.agent.v1.Compensation.$Properties instead.
             */
            interface ICompensation extends svc.agent.v1.Compensation.$Properties {
            }

            /** Represents a Compensation. */
            class Compensation {

                /**
                 * Constructs a new Compensation.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: svc.agent.v1.Compensation.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** Compensation topic. */
                topic: string;

                /** Compensation context_ptr. */
                context_ptr: string;

                /** Compensation priority. */
                priority: svc.agent.v1.JobPriority;

                /** Compensation adapter_id. */
                adapter_id: string;

                /** Compensation env. */
                env: { [k: string]: string };

                /** Compensation memory_id. */
                memory_id: string;

                /** Compensation context_hints. */
                context_hints?: (svc.agent.v1.ContextHints.$Properties|null);

                /** Compensation budget. */
                budget?: (svc.agent.v1.Budget.$Properties|null);

                /** Compensation tenant_id. */
                tenant_id: string;

                /** Compensation principal_id. */
                principal_id: string;

                /** Compensation labels. */
                labels: { [k: string]: string };

                /** Compensation meta. */
                meta?: (svc.agent.v1.JobMetadata.$Properties|null);

                /** Compensation identity. */
                identity?: (svc.agent.v1.IdentityBinding.$Properties|null);

                /** Compensation dispatch. */
                dispatch?: (svc.agent.v1.DispatchIdentity.$Properties|null);

                /** Compensation context_ref. */
                context_ref?: (svc.agent.v1.ResourceRef.$Properties|null);

                /**
                 * Encodes the specified Compensation message. Does not implicitly {@link svc.agent.v1.Compensation.verify|verify} messages.
                 * @param message Compensation message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: svc.agent.v1.Compensation.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a Compensation message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {svc.agent.v1.Compensation & svc.agent.v1.Compensation.$Shape} Compensation
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): svc.agent.v1.Compensation & svc.agent.v1.Compensation.$Shape;
            }

            namespace Compensation {

                /** Properties of a Compensation. */
                interface $Properties {

                    /** Compensation topic */
                    topic?: (string|null);

                    /** Compensation context_ptr */
                    context_ptr?: (string|null);

                    /** Compensation priority */
                    priority?: (svc.agent.v1.JobPriority|null);

                    /** Compensation adapter_id */
                    adapter_id?: (string|null);

                    /** Compensation env */
                    env?: ({ [k: string]: string }|null);

                    /** Compensation memory_id */
                    memory_id?: (string|null);

                    /** Compensation context_hints */
                    context_hints?: (svc.agent.v1.ContextHints.$Properties|null);

                    /** Compensation budget */
                    budget?: (svc.agent.v1.Budget.$Properties|null);

                    /** Compensation tenant_id */
                    tenant_id?: (string|null);

                    /** Compensation principal_id */
                    principal_id?: (string|null);

                    /** Compensation labels */
                    labels?: ({ [k: string]: string }|null);

                    /** Compensation meta */
                    meta?: (svc.agent.v1.JobMetadata.$Properties|null);

                    /** Compensation identity */
                    identity?: (svc.agent.v1.IdentityBinding.$Properties|null);

                    /** Compensation dispatch */
                    dispatch?: (svc.agent.v1.DispatchIdentity.$Properties|null);

                    /** Compensation context_ref */
                    context_ref?: (svc.agent.v1.ResourceRef.$Properties|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a Compensation. */
                type $Shape = svc.agent.v1.Compensation.$Properties;
            }

            /**
             * Properties of a JobResult.
             * @deprecated Use svc.agent.v1.JobResult.$Properties instead.
             */
            interface IJobResult extends svc.agent.v1.JobResult.$Properties {
            }

            /** Represents a JobResult. */
            class JobResult {

                /**
                 * Constructs a new JobResult.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: svc.agent.v1.JobResult.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** JobResult job_id. */
                job_id: string;

                /** JobResult status. */
                status: svc.agent.v1.JobStatus;

                /** JobResult result_ptr. */
                result_ptr: string;

                /** JobResult worker_id. */
                worker_id: string;

                /** JobResult execution_ms. */
                execution_ms: number;

                /** JobResult error_code. */
                error_code: string;

                /** JobResult error_message. */
                error_message: string;

                /** JobResult artifact_ptrs. */
                artifact_ptrs: string[];

                /** JobResult error_code_enum. */
                error_code_enum: svc.agent.v1.ErrorCode;

                /** JobResult dispatch. */
                dispatch?: (svc.agent.v1.DispatchIdentity.$Properties|null);

                /** JobResult identity. */
                identity?: (svc.agent.v1.IdentityBinding.$Properties|null);

                /** JobResult result_ref. */
                result_ref?: (svc.agent.v1.ResourceRef.$Properties|null);

                /** JobResult artifact_refs. */
                artifact_refs: svc.agent.v1.ResourceRef.$Properties[];

                /** JobResult cost_usd. */
                cost_usd?: (number|null);

                /** JobResult inline_result. */
                inline_result: Uint8Array;

                /** JobResult result_ticket. */
                result_ticket: Uint8Array;

                /**
                 * Encodes the specified JobResult message. Does not implicitly {@link svc.agent.v1.JobResult.verify|verify} messages.
                 * @param message JobResult message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: svc.agent.v1.JobResult.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a JobResult message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {svc.agent.v1.JobResult & svc.agent.v1.JobResult.$Shape} JobResult
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): svc.agent.v1.JobResult & svc.agent.v1.JobResult.$Shape;
            }

            namespace JobResult {

                /** Properties of a JobResult. */
                interface $Properties {

                    /** JobResult job_id */
                    job_id?: (string|null);

                    /** JobResult status */
                    status?: (svc.agent.v1.JobStatus|null);

                    /** JobResult result_ptr */
                    result_ptr?: (string|null);

                    /** JobResult worker_id */
                    worker_id?: (string|null);

                    /** JobResult execution_ms */
                    execution_ms?: (number|null);

                    /** JobResult error_code */
                    error_code?: (string|null);

                    /** JobResult error_message */
                    error_message?: (string|null);

                    /** JobResult artifact_ptrs */
                    artifact_ptrs?: (string[]|null);

                    /** JobResult error_code_enum */
                    error_code_enum?: (svc.agent.v1.ErrorCode|null);

                    /** JobResult dispatch */
                    dispatch?: (svc.agent.v1.DispatchIdentity.$Properties|null);

                    /** JobResult identity */
                    identity?: (svc.agent.v1.IdentityBinding.$Properties|null);

                    /** JobResult result_ref */
                    result_ref?: (svc.agent.v1.ResourceRef.$Properties|null);

                    /** JobResult artifact_refs */
                    artifact_refs?: (svc.agent.v1.ResourceRef.$Properties[]|null);

                    /** JobResult cost_usd */
                    cost_usd?: (number|null);

                    /** JobResult inline_result */
                    inline_result?: (Uint8Array|null);

                    /** JobResult result_ticket */
                    result_ticket?: (Uint8Array|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a JobResult. */
                type $Shape = svc.agent.v1.JobResult.$Properties;
            }

            /**
             * Properties of a JobProgress.
             * @deprecated Use svc.agent.v1.JobProgress.$Properties instead.
             */
            interface IJobProgress extends svc.agent.v1.JobProgress.$Properties {
            }

            /** Represents a JobProgress. */
            class JobProgress {

                /**
                 * Constructs a new JobProgress.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: svc.agent.v1.JobProgress.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** JobProgress job_id. */
                job_id: string;

                /** JobProgress step_id. */
                step_id: string;

                /** JobProgress percent. */
                percent: number;

                /** JobProgress message. */
                message: string;

                /** JobProgress result_ptr. */
                result_ptr: string;

                /** JobProgress artifact_ptrs. */
                artifact_ptrs: string[];

                /** JobProgress status. */
                status: svc.agent.v1.JobStatus;

                /** JobProgress dispatch. */
                dispatch?: (svc.agent.v1.DispatchIdentity.$Properties|null);

                /** JobProgress identity. */
                identity?: (svc.agent.v1.IdentityBinding.$Properties|null);

                /** JobProgress result_ref. */
                result_ref?: (svc.agent.v1.ResourceRef.$Properties|null);

                /** JobProgress artifact_refs. */
                artifact_refs: svc.agent.v1.ResourceRef.$Properties[];

                /** JobProgress logs. */
                logs: svc.agent.v1.JobLogLine.$Properties[];

                /** JobProgress output. */
                output: string;

                /** JobProgress output_offset. */
                output_offset: number;

                /**
                 * Encodes the specified JobProgress message. Does not implicitly {@link svc.agent.v1.JobProgress.verify|verify} messages.
                 * @param message JobProgress message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: svc.agent.v1.JobProgress.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a JobProgress message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {svc.agent.v1.JobProgress & svc.agent.v1.JobProgress.$Shape} JobProgress
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): svc.agent.v1.JobProgress & svc.agent.v1.JobProgress.$Shape;
            }

            namespace JobProgress {

                /** Properties of a JobProgress. */
                interface $Properties {

                    /** JobProgress job_id */
                    job_id?: (string|null);

                    /** JobProgress step_id */
                    step_id?: (string|null);

                    /** JobProgress percent */
                    percent?: (number|null);

                    /** JobProgress message */
                    message?: (string|null);

                    /** JobProgress result_ptr */
                    result_ptr?: (string|null);

                    /** JobProgress artifact_ptrs */
                    artifact_ptrs?: (string[]|null);

                    /** JobProgress status */
                    status?: (svc.agent.v1.JobStatus|null);

                    /** JobProgress dispatch */
                    dispatch?: (svc.agent.v1.DispatchIdentity.$Properties|null);

                    /** JobProgress identity */
                    identity?: (svc.agent.v1.IdentityBinding.$Properties|null);

                    /** JobProgress result_ref */
                    result_ref?: (svc.agent.v1.ResourceRef.$Properties|null);

                    /** JobProgress artifact_refs */
                    artifact_refs?: (svc.agent.v1.ResourceRef.$Properties[]|null);

                    /** JobProgress logs */
                    logs?: (svc.agent.v1.JobLogLine.$Properties[]|null);

                    /** JobProgress output */
                    output?: (string|null);

                    /** JobProgress output_offset */
                    output_offset?: (number|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a JobProgress. */
                type $Shape = svc.agent.v1.JobProgress.$Properties;
            }

            /**
             * Properties of a JobLogLine.
             * @deprecated Use svc.agent.v1.JobLogLine.$Properties instead.
             */
            interface IJobLogLine extends svc.agent.v1.JobLogLine.$Properties {
            }

            /** Represents a JobLogLine. */
            class JobLogLine {

                /**
                 * Constructs a new JobLogLine.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: svc.agent.v1.JobLogLine.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** JobLogLine level. */
                level: string;

                /** JobLogLine message. */
                message: string;

                /** JobLogLine at_ms. */
                at_ms: number;

                /**
                 * Encodes the specified JobLogLine message. Does not implicitly {@link svc.agent.v1.JobLogLine.verify|verify} messages.
                 * @param message JobLogLine message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: svc.agent.v1.JobLogLine.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a JobLogLine message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {svc.agent.v1.JobLogLine & svc.agent.v1.JobLogLine.$Shape} JobLogLine
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): svc.agent.v1.JobLogLine & svc.agent.v1.JobLogLine.$Shape;
            }

            namespace JobLogLine {

                /** Properties of a JobLogLine. */
                interface $Properties {

                    /** JobLogLine level */
                    level?: (string|null);

                    /** JobLogLine message */
                    message?: (string|null);

                    /** JobLogLine at_ms */
                    at_ms?: (number|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a JobLogLine. */
                type $Shape = svc.agent.v1.JobLogLine.$Properties;
            }

            /**
             * Properties of a JobCancel.
             * @deprecated Use svc.agent.v1.JobCancel.$Properties instead.
             */
            interface IJobCancel extends svc.agent.v1.JobCancel.$Properties {
            }

            /** Represents a JobCancel. */
            class JobCancel {

                /**
                 * Constructs a new JobCancel.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: svc.agent.v1.JobCancel.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** JobCancel job_id. */
                job_id: string;

                /** JobCancel reason. */
                reason: string;

                /** JobCancel requested_by. */
                requested_by: string;

                /** JobCancel dispatch. */
                dispatch?: (svc.agent.v1.DispatchIdentity.$Properties|null);

                /** JobCancel identity. */
                identity?: (svc.agent.v1.IdentityBinding.$Properties|null);

                /** JobCancel grace_sec. */
                grace_sec: number;

                /**
                 * Encodes the specified JobCancel message. Does not implicitly {@link svc.agent.v1.JobCancel.verify|verify} messages.
                 * @param message JobCancel message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: svc.agent.v1.JobCancel.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a JobCancel message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {svc.agent.v1.JobCancel & svc.agent.v1.JobCancel.$Shape} JobCancel
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): svc.agent.v1.JobCancel & svc.agent.v1.JobCancel.$Shape;
            }

            namespace JobCancel {

                /** Properties of a JobCancel. */
                interface $Properties {

                    /** JobCancel job_id */
                    job_id?: (string|null);

                    /** JobCancel reason */
                    reason?: (string|null);

                    /** JobCancel requested_by */
                    requested_by?: (string|null);

                    /** JobCancel dispatch */
                    dispatch?: (svc.agent.v1.DispatchIdentity.$Properties|null);

                    /** JobCancel identity */
                    identity?: (svc.agent.v1.IdentityBinding.$Properties|null);

                    /** JobCancel grace_sec */
                    grace_sec?: (number|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a JobCancel. */
                type $Shape = svc.agent.v1.JobCancel.$Properties;
            }

            /**
             * Properties of a Heartbeat.
             * @deprecated Use svc.agent.v1.Heartbeat.$Properties instead.
             */
            interface IHeartbeat extends svc.agent.v1.Heartbeat.$Properties {
            }

            /** Represents a Heartbeat. */
            class Heartbeat {

                /**
                 * Constructs a new Heartbeat.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: svc.agent.v1.Heartbeat.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** Heartbeat worker_id. */
                worker_id: string;

                /** Heartbeat region. */
                region: string;

                /** Heartbeat type. */
                type: string;

                /** Heartbeat cpu_load. */
                cpu_load: number;

                /** Heartbeat gpu_utilization. */
                gpu_utilization: number;

                /** Heartbeat active_jobs. */
                active_jobs: number;

                /** Heartbeat capabilities. */
                capabilities: string[];

                /** Heartbeat pool. */
                pool: string;

                /** Heartbeat max_parallel_jobs. */
                max_parallel_jobs: number;

                /** Heartbeat labels. */
                labels: { [k: string]: string };

                /** Heartbeat memory_load. */
                memory_load: number;

                /** Heartbeat progress_pct. */
                progress_pct: number;

                /** Heartbeat last_memo. */
                last_memo: string;

                /** Heartbeat auth_token. */
                auth_token: string;

                /** Heartbeat agent_name. */
                agent_name: string;

                /** Heartbeat running_jobs. */
                running_jobs: string[];

                /**
                 * Encodes the specified Heartbeat message. Does not implicitly {@link svc.agent.v1.Heartbeat.verify|verify} messages.
                 * @param message Heartbeat message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: svc.agent.v1.Heartbeat.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a Heartbeat message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {svc.agent.v1.Heartbeat & svc.agent.v1.Heartbeat.$Shape} Heartbeat
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): svc.agent.v1.Heartbeat & svc.agent.v1.Heartbeat.$Shape;
            }

            namespace Heartbeat {

                /** Properties of a Heartbeat. */
                interface $Properties {

                    /** Heartbeat worker_id */
                    worker_id?: (string|null);

                    /** Heartbeat region */
                    region?: (string|null);

                    /** Heartbeat type */
                    type?: (string|null);

                    /** Heartbeat cpu_load */
                    cpu_load?: (number|null);

                    /** Heartbeat gpu_utilization */
                    gpu_utilization?: (number|null);

                    /** Heartbeat active_jobs */
                    active_jobs?: (number|null);

                    /** Heartbeat capabilities */
                    capabilities?: (string[]|null);

                    /** Heartbeat pool */
                    pool?: (string|null);

                    /** Heartbeat max_parallel_jobs */
                    max_parallel_jobs?: (number|null);

                    /** Heartbeat labels */
                    labels?: ({ [k: string]: string }|null);

                    /** Heartbeat memory_load */
                    memory_load?: (number|null);

                    /** Heartbeat progress_pct */
                    progress_pct?: (number|null);

                    /** Heartbeat last_memo */
                    last_memo?: (string|null);

                    /** Heartbeat auth_token */
                    auth_token?: (string|null);

                    /** Heartbeat agent_name */
                    agent_name?: (string|null);

                    /** Heartbeat running_jobs */
                    running_jobs?: (string[]|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a Heartbeat. */
                type $Shape = svc.agent.v1.Heartbeat.$Properties;
            }

            /**
             * Properties of a Handshake.
             * @deprecated Use svc.agent.v1.Handshake.$Properties instead.
             */
            interface IHandshake extends svc.agent.v1.Handshake.$Properties {
            }

            /** Represents a Handshake. */
            class Handshake {

                /**
                 * Constructs a new Handshake.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: svc.agent.v1.Handshake.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** Handshake component_id. */
                component_id: string;

                /** Handshake role. */
                role: svc.agent.v1.ComponentRole;

                /** Handshake supported_versions. */
                supported_versions: number[];

                /** Handshake capabilities. */
                capabilities: { [k: string]: boolean };

                /** Handshake sdk_version. */
                sdk_version: string;

                /** Handshake ready_topics. */
                ready_topics: string[];

                /** Handshake agent_name. */
                agent_name: string;

                /**
                 * Encodes the specified Handshake message. Does not implicitly {@link svc.agent.v1.Handshake.verify|verify} messages.
                 * @param message Handshake message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: svc.agent.v1.Handshake.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a Handshake message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {svc.agent.v1.Handshake & svc.agent.v1.Handshake.$Shape} Handshake
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): svc.agent.v1.Handshake & svc.agent.v1.Handshake.$Shape;
            }

            namespace Handshake {

                /** Properties of a Handshake. */
                interface $Properties {

                    /** Handshake component_id */
                    component_id?: (string|null);

                    /** Handshake role */
                    role?: (svc.agent.v1.ComponentRole|null);

                    /** Handshake supported_versions */
                    supported_versions?: (number[]|null);

                    /** Handshake capabilities */
                    capabilities?: ({ [k: string]: boolean }|null);

                    /** Handshake sdk_version */
                    sdk_version?: (string|null);

                    /** Handshake ready_topics */
                    ready_topics?: (string[]|null);

                    /** Handshake agent_name */
                    agent_name?: (string|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a Handshake. */
                type $Shape = svc.agent.v1.Handshake.$Properties;
            }

            /**
             * Properties of a SystemAlert.
             * @deprecated Use svc.agent.v1.SystemAlert.$Properties instead.
             */
            interface ISystemAlert extends svc.agent.v1.SystemAlert.$Properties {
            }

            /** Represents a SystemAlert. */
            class SystemAlert {

                /**
                 * Constructs a new SystemAlert.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: svc.agent.v1.SystemAlert.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** SystemAlert level. */
                level: string;

                /** SystemAlert message. */
                message: string;

                /** SystemAlert component. */
                component: string;

                /** SystemAlert code. */
                code: string;

                /** SystemAlert severity. */
                severity: svc.agent.v1.AlertSeverity;

                /** SystemAlert error_code_enum. */
                error_code_enum: svc.agent.v1.ErrorCode;

                /** SystemAlert source_component. */
                source_component: string;

                /** SystemAlert details. */
                details: { [k: string]: string };

                /** SystemAlert trace_id. */
                trace_id: string;

                /**
                 * Encodes the specified SystemAlert message. Does not implicitly {@link svc.agent.v1.SystemAlert.verify|verify} messages.
                 * @param message SystemAlert message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: svc.agent.v1.SystemAlert.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a SystemAlert message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {svc.agent.v1.SystemAlert & svc.agent.v1.SystemAlert.$Shape} SystemAlert
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): svc.agent.v1.SystemAlert & svc.agent.v1.SystemAlert.$Shape;
            }

            namespace SystemAlert {

                /** Properties of a SystemAlert. */
                interface $Properties {

                    /** SystemAlert level */
                    level?: (string|null);

                    /** SystemAlert message */
                    message?: (string|null);

                    /** SystemAlert component */
                    component?: (string|null);

                    /** SystemAlert code */
                    code?: (string|null);

                    /** SystemAlert severity */
                    severity?: (svc.agent.v1.AlertSeverity|null);

                    /** SystemAlert error_code_enum */
                    error_code_enum?: (svc.agent.v1.ErrorCode|null);

                    /** SystemAlert source_component */
                    source_component?: (string|null);

                    /** SystemAlert details */
                    details?: ({ [k: string]: string }|null);

                    /** SystemAlert trace_id */
                    trace_id?: (string|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a SystemAlert. */
                type $Shape = svc.agent.v1.SystemAlert.$Properties;
            }

            /**
             * Properties of a WorkerHandshakeChallengeRequest.
             * @deprecated Use svc.agent.v1.WorkerHandshakeChallengeRequest.$Properties instead.
             */
            interface IWorkerHandshakeChallengeRequest extends svc.agent.v1.WorkerHandshakeChallengeRequest.$Properties {
            }

            /** Represents a WorkerHandshakeChallengeRequest. */
            class WorkerHandshakeChallengeRequest {

                /**
                 * Constructs a new WorkerHandshakeChallengeRequest.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: svc.agent.v1.WorkerHandshakeChallengeRequest.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** WorkerHandshakeChallengeRequest request_id. */
                request_id: string;

                /** WorkerHandshakeChallengeRequest trace_id. */
                trace_id: string;

                /** WorkerHandshakeChallengeRequest worker_id. */
                worker_id: string;

                /** WorkerHandshakeChallengeRequest proof_key_id. */
                proof_key_id: string;

                /** WorkerHandshakeChallengeRequest proof_algorithm. */
                proof_algorithm: svc.agent.v1.WorkerHandshakeProofAlgorithm;

                /** WorkerHandshakeChallengeRequest audience. */
                audience: string;

                /** WorkerHandshakeChallengeRequest purpose. */
                purpose: svc.agent.v1.WorkerHandshakePurpose;

                /** WorkerHandshakeChallengeRequest client_nonce. */
                client_nonce: Uint8Array;

                /** WorkerHandshakeChallengeRequest protocol_version. */
                protocol_version: number;

                /** WorkerHandshakeChallengeRequest sdk_version. */
                sdk_version: string;

                /**
                 * Encodes the specified WorkerHandshakeChallengeRequest message. Does not implicitly {@link svc.agent.v1.WorkerHandshakeChallengeRequest.verify|verify} messages.
                 * @param message WorkerHandshakeChallengeRequest message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: svc.agent.v1.WorkerHandshakeChallengeRequest.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a WorkerHandshakeChallengeRequest message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {svc.agent.v1.WorkerHandshakeChallengeRequest & svc.agent.v1.WorkerHandshakeChallengeRequest.$Shape} WorkerHandshakeChallengeRequest
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): svc.agent.v1.WorkerHandshakeChallengeRequest & svc.agent.v1.WorkerHandshakeChallengeRequest.$Shape;
            }

            namespace WorkerHandshakeChallengeRequest {

                /** Properties of a WorkerHandshakeChallengeRequest. */
                interface $Properties {

                    /** WorkerHandshakeChallengeRequest request_id */
                    request_id?: (string|null);

                    /** WorkerHandshakeChallengeRequest trace_id */
                    trace_id?: (string|null);

                    /** WorkerHandshakeChallengeRequest worker_id */
                    worker_id?: (string|null);

                    /** WorkerHandshakeChallengeRequest proof_key_id */
                    proof_key_id?: (string|null);

                    /** WorkerHandshakeChallengeRequest proof_algorithm */
                    proof_algorithm?: (svc.agent.v1.WorkerHandshakeProofAlgorithm|null);

                    /** WorkerHandshakeChallengeRequest audience */
                    audience?: (string|null);

                    /** WorkerHandshakeChallengeRequest purpose */
                    purpose?: (svc.agent.v1.WorkerHandshakePurpose|null);

                    /** WorkerHandshakeChallengeRequest client_nonce */
                    client_nonce?: (Uint8Array|null);

                    /** WorkerHandshakeChallengeRequest protocol_version */
                    protocol_version?: (number|null);

                    /** WorkerHandshakeChallengeRequest sdk_version */
                    sdk_version?: (string|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a WorkerHandshakeChallengeRequest. */
                type $Shape = svc.agent.v1.WorkerHandshakeChallengeRequest.$Properties;
            }

            /**
             * Properties of a WorkerHandshakeChallenge.
             * @deprecated Use svc.agent.v1.WorkerHandshakeChallenge.$Properties instead.
             */
            interface IWorkerHandshakeChallenge extends svc.agent.v1.WorkerHandshakeChallenge.$Properties {
            }

            /** Represents a WorkerHandshakeChallenge. */
            class WorkerHandshakeChallenge {

                /**
                 * Constructs a new WorkerHandshakeChallenge.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: svc.agent.v1.WorkerHandshakeChallenge.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** WorkerHandshakeChallenge request_id. */
                request_id: string;

                /** WorkerHandshakeChallenge challenge_id. */
                challenge_id: string;

                /** WorkerHandshakeChallenge trace_id. */
                trace_id: string;

                /** WorkerHandshakeChallenge worker_id. */
                worker_id: string;

                /** WorkerHandshakeChallenge agent_id. */
                agent_id: string;

                /** WorkerHandshakeChallenge tenant_id. */
                tenant_id: string;

                /** WorkerHandshakeChallenge proof_key_id. */
                proof_key_id: string;

                /** WorkerHandshakeChallenge proof_algorithm. */
                proof_algorithm: svc.agent.v1.WorkerHandshakeProofAlgorithm;

                /** WorkerHandshakeChallenge server_key_id. */
                server_key_id: string;

                /** WorkerHandshakeChallenge audience. */
                audience: string;

                /** WorkerHandshakeChallenge purpose. */
                purpose: svc.agent.v1.WorkerHandshakePurpose;

                /** WorkerHandshakeChallenge client_nonce. */
                client_nonce: Uint8Array;

                /** WorkerHandshakeChallenge server_nonce. */
                server_nonce: Uint8Array;

                /** WorkerHandshakeChallenge protocol_version. */
                protocol_version: number;

                /** WorkerHandshakeChallenge sdk_version. */
                sdk_version: string;

                /** WorkerHandshakeChallenge issued_at. */
                issued_at?: (google.protobuf.Timestamp.$Properties|null);

                /** WorkerHandshakeChallenge expires_at. */
                expires_at?: (google.protobuf.Timestamp.$Properties|null);

                /**
                 * Encodes the specified WorkerHandshakeChallenge message. Does not implicitly {@link svc.agent.v1.WorkerHandshakeChallenge.verify|verify} messages.
                 * @param message WorkerHandshakeChallenge message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: svc.agent.v1.WorkerHandshakeChallenge.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a WorkerHandshakeChallenge message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {svc.agent.v1.WorkerHandshakeChallenge & svc.agent.v1.WorkerHandshakeChallenge.$Shape} WorkerHandshakeChallenge
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): svc.agent.v1.WorkerHandshakeChallenge & svc.agent.v1.WorkerHandshakeChallenge.$Shape;
            }

            namespace WorkerHandshakeChallenge {

                /** Properties of a WorkerHandshakeChallenge. */
                interface $Properties {

                    /** WorkerHandshakeChallenge request_id */
                    request_id?: (string|null);

                    /** WorkerHandshakeChallenge challenge_id */
                    challenge_id?: (string|null);

                    /** WorkerHandshakeChallenge trace_id */
                    trace_id?: (string|null);

                    /** WorkerHandshakeChallenge worker_id */
                    worker_id?: (string|null);

                    /** WorkerHandshakeChallenge agent_id */
                    agent_id?: (string|null);

                    /** WorkerHandshakeChallenge tenant_id */
                    tenant_id?: (string|null);

                    /** WorkerHandshakeChallenge proof_key_id */
                    proof_key_id?: (string|null);

                    /** WorkerHandshakeChallenge proof_algorithm */
                    proof_algorithm?: (svc.agent.v1.WorkerHandshakeProofAlgorithm|null);

                    /** WorkerHandshakeChallenge server_key_id */
                    server_key_id?: (string|null);

                    /** WorkerHandshakeChallenge audience */
                    audience?: (string|null);

                    /** WorkerHandshakeChallenge purpose */
                    purpose?: (svc.agent.v1.WorkerHandshakePurpose|null);

                    /** WorkerHandshakeChallenge client_nonce */
                    client_nonce?: (Uint8Array|null);

                    /** WorkerHandshakeChallenge server_nonce */
                    server_nonce?: (Uint8Array|null);

                    /** WorkerHandshakeChallenge protocol_version */
                    protocol_version?: (number|null);

                    /** WorkerHandshakeChallenge sdk_version */
                    sdk_version?: (string|null);

                    /** WorkerHandshakeChallenge issued_at */
                    issued_at?: (google.protobuf.Timestamp.$Properties|null);

                    /** WorkerHandshakeChallenge expires_at */
                    expires_at?: (google.protobuf.Timestamp.$Properties|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a WorkerHandshakeChallenge. */
                type $Shape = svc.agent.v1.WorkerHandshakeChallenge.$Properties;
            }

            /**
             * Properties of a WorkerHandshakeAuthenticate.
             * @deprecated Use svc.agent.v1.WorkerHandshakeAuthenticate.$Properties instead.
             */
            interface IWorkerHandshakeAuthenticate extends svc.agent.v1.WorkerHandshakeAuthenticate.$Properties {
            }

            /** Represents a WorkerHandshakeAuthenticate. */
            class WorkerHandshakeAuthenticate {

                /**
                 * Constructs a new WorkerHandshakeAuthenticate.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: svc.agent.v1.WorkerHandshakeAuthenticate.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** WorkerHandshakeAuthenticate challenge. */
                challenge?: (svc.agent.v1.WorkerHandshakeChallenge.$Properties|null);

                /** WorkerHandshakeAuthenticate capability_handshake. */
                capability_handshake?: (svc.agent.v1.Handshake.$Properties|null);

                /**
                 * Encodes the specified WorkerHandshakeAuthenticate message. Does not implicitly {@link svc.agent.v1.WorkerHandshakeAuthenticate.verify|verify} messages.
                 * @param message WorkerHandshakeAuthenticate message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: svc.agent.v1.WorkerHandshakeAuthenticate.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a WorkerHandshakeAuthenticate message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {svc.agent.v1.WorkerHandshakeAuthenticate & svc.agent.v1.WorkerHandshakeAuthenticate.$Shape} WorkerHandshakeAuthenticate
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): svc.agent.v1.WorkerHandshakeAuthenticate & svc.agent.v1.WorkerHandshakeAuthenticate.$Shape;
            }

            namespace WorkerHandshakeAuthenticate {

                /** Properties of a WorkerHandshakeAuthenticate. */
                interface $Properties {

                    /** WorkerHandshakeAuthenticate challenge */
                    challenge?: (svc.agent.v1.WorkerHandshakeChallenge.$Properties|null);

                    /** WorkerHandshakeAuthenticate capability_handshake */
                    capability_handshake?: (svc.agent.v1.Handshake.$Properties|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a WorkerHandshakeAuthenticate. */
                type $Shape = svc.agent.v1.WorkerHandshakeAuthenticate.$Properties;
            }

            /**
             * Properties of a WorkerHandshakeResult.
             * @deprecated Use svc.agent.v1.WorkerHandshakeResult.$Properties instead.
             */
            interface IWorkerHandshakeResult extends svc.agent.v1.WorkerHandshakeResult.$Properties {
            }

            /** Represents a WorkerHandshakeResult. */
            class WorkerHandshakeResult {

                /**
                 * Constructs a new WorkerHandshakeResult.
                 * @param [properties] Properties to set
                 */
                constructor(properties?: svc.agent.v1.WorkerHandshakeResult.$Properties);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];

                /** WorkerHandshakeResult challenge. */
                challenge?: (svc.agent.v1.WorkerHandshakeChallenge.$Properties|null);

                /** WorkerHandshakeResult accepted. */
                accepted: boolean;

                /** WorkerHandshakeResult rejection_reason. */
                rejection_reason: svc.agent.v1.WorkerHandshakeRejectionReason;

                /** WorkerHandshakeResult token_expires_at. */
                token_expires_at?: (google.protobuf.Timestamp.$Properties|null);

                /** WorkerHandshakeResult issued_at. */
                issued_at?: (google.protobuf.Timestamp.$Properties|null);

                /**
                 * Encodes the specified WorkerHandshakeResult message. Does not implicitly {@link svc.agent.v1.WorkerHandshakeResult.verify|verify} messages.
                 * @param message WorkerHandshakeResult message or plain object to encode
                 * @param [writer] Writer to encode to
                 * @returns Writer
                 */
                static encode(message: svc.agent.v1.WorkerHandshakeResult.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

                /**
                 * Decodes a WorkerHandshakeResult message from the specified reader or buffer.
                 * @param reader Reader or buffer to decode from
                 * @param [length] Message length if known beforehand
                 * @returns {svc.agent.v1.WorkerHandshakeResult & svc.agent.v1.WorkerHandshakeResult.$Shape} WorkerHandshakeResult
                 * @throws {Error} If the payload is not a reader or valid buffer
                 * @throws {$protobuf.util.ProtocolError} If required fields are missing
                 */
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): svc.agent.v1.WorkerHandshakeResult & svc.agent.v1.WorkerHandshakeResult.$Shape;
            }

            namespace WorkerHandshakeResult {

                /** Properties of a WorkerHandshakeResult. */
                interface $Properties {

                    /** WorkerHandshakeResult challenge */
                    challenge?: (svc.agent.v1.WorkerHandshakeChallenge.$Properties|null);

                    /** WorkerHandshakeResult accepted */
                    accepted?: (boolean|null);

                    /** WorkerHandshakeResult rejection_reason */
                    rejection_reason?: (svc.agent.v1.WorkerHandshakeRejectionReason|null);

                    /** WorkerHandshakeResult token_expires_at */
                    token_expires_at?: (google.protobuf.Timestamp.$Properties|null);

                    /** WorkerHandshakeResult issued_at */
                    issued_at?: (google.protobuf.Timestamp.$Properties|null);

                    /** Unknown fields preserved while decoding when enabled */
                    $unknowns?: Uint8Array[];
                }

                /** Shape of a WorkerHandshakeResult. */
                type $Shape = svc.agent.v1.WorkerHandshakeResult.$Properties;
            }
        }
    }
}

/** Namespace google. */
export namespace google {

    /** Namespace protobuf. */
    namespace protobuf {

        /**
         * Properties of a Timestamp.
         * @deprecated Use google.protobuf.Timestamp.$Properties instead.
         */
        interface ITimestamp extends google.protobuf.Timestamp.$Properties {
        }

        /** Represents a Timestamp. */
        class Timestamp {

            /**
             * Constructs a new Timestamp.
             * @param [properties] Properties to set
             */
            constructor(properties?: google.protobuf.Timestamp.$Properties);

            /** Unknown fields preserved while decoding when enabled */
            $unknowns?: Uint8Array[];

            /** Timestamp seconds. */
            seconds: number;

            /** Timestamp nanos. */
            nanos: number;

            /**
             * Encodes the specified Timestamp message. Does not implicitly {@link google.protobuf.Timestamp.verify|verify} messages.
             * @param message Timestamp message or plain object to encode
             * @param [writer] Writer to encode to
             * @returns Writer
             */
            static encode(message: google.protobuf.Timestamp.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;

            /**
             * Decodes a Timestamp message from the specified reader or buffer.
             * @param reader Reader or buffer to decode from
             * @param [length] Message length if known beforehand
             * @returns {google.protobuf.Timestamp & google.protobuf.Timestamp.$Shape} Timestamp
             * @throws {Error} If the payload is not a reader or valid buffer
             * @throws {$protobuf.util.ProtocolError} If required fields are missing
             */
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): google.protobuf.Timestamp & google.protobuf.Timestamp.$Shape;
        }

        namespace Timestamp {

            /** Properties of a Timestamp. */
            interface $Properties {

                /** Timestamp seconds */
                seconds?: (number|null);

                /** Timestamp nanos */
                nanos?: (number|null);

                /** Unknown fields preserved while decoding when enabled */
                $unknowns?: Uint8Array[];
            }

            /** Shape of a Timestamp. */
            type $Shape = google.protobuf.Timestamp.$Properties;
        }
    }
}
