import { svc } from './generated/bus';

type Scalar = string | number | boolean | Uint8Array | readonly unknown[];
type FieldKeys<P> = Exclude<keyof P, '$unknowns'>;
type IsMessage<T> = string extends keyof T ? false : '$unknowns' extends keyof T ? true : false;
type MessageKeys<P> = {
  [K in FieldKeys<P>]-?: NonNullable<P[K]> extends Scalar
    ? never
    : IsMessage<NonNullable<P[K]>> extends true
      ? K
      : never;
}[FieldKeys<P>];

type Field<T> = T extends readonly (infer E)[] ? (IsMessage<E> extends true ? Message<E>[] : T) : T;

/** A message as code reads it: scalars, lists and maps are always there (proto3 defaults), messages may be absent. */
export type Message<P> = { [K in Exclude<FieldKeys<P>, MessageKeys<P>>]-?: Field<NonNullable<P[K]>> } & {
  [K in MessageKeys<P>]?: Message<NonNullable<P[K]>>;
};

/** A message as code writes it: any field may be left out. */
export type Draft<P> = {
  [K in FieldKeys<P>]?: (K extends MessageKeys<P> ? Draft<NonNullable<P[K]>> : NonNullable<P[K]>) | null | undefined;
};

export type JobRequest = Message<svc.agent.v1.JobRequest.$Properties>;
export type JobResult = Message<svc.agent.v1.JobResult.$Properties>;
export type JobProgress = Message<svc.agent.v1.JobProgress.$Properties>;
export type JobCancel = Message<svc.agent.v1.JobCancel.$Properties>;
export type Heartbeat = Message<svc.agent.v1.Heartbeat.$Properties>;
export type Handshake = Message<svc.agent.v1.Handshake.$Properties>;
export type SystemAlert = Message<svc.agent.v1.SystemAlert.$Properties>;
export type JobMetadata = Message<svc.agent.v1.JobMetadata.$Properties>;
export type Budget = Message<svc.agent.v1.Budget.$Properties>;
export type Compensation = Message<svc.agent.v1.Compensation.$Properties>;
export type ContextHints = Message<svc.agent.v1.ContextHints.$Properties>;
export type DispatchIdentity = Message<svc.agent.v1.DispatchIdentity.$Properties>;
export type IdentityBinding = Message<svc.agent.v1.IdentityBinding.$Properties>;
export type ResourceRef = Message<svc.agent.v1.ResourceRef.$Properties>;
export type SignatureMetadata = Message<svc.agent.v1.SignatureMetadata.$Properties>;

export type JobRequestDraft = Draft<svc.agent.v1.JobRequest.$Properties>;
export type JobResultDraft = Draft<svc.agent.v1.JobResult.$Properties>;
export type JobCancelDraft = Draft<svc.agent.v1.JobCancel.$Properties>;
export type JobProgressDraft = Draft<svc.agent.v1.JobProgress.$Properties>;
export type SystemAlertDraft = Draft<svc.agent.v1.SystemAlert.$Properties>;

const v1 = svc.agent.v1;
export const wire = v1;

/** Members have their full names: `JobStatus.JOB_STATUS_SUCCEEDED`. See docs/reference/messages.md. */
export const JobStatus = v1.JobStatus;
export type JobStatus = svc.agent.v1.JobStatus;
export const JobPriority = v1.JobPriority;
export type JobPriority = svc.agent.v1.JobPriority;
export const ActorType = v1.ActorType;
export type ActorType = svc.agent.v1.ActorType;
export const AlertSeverity = v1.AlertSeverity;
export type AlertSeverity = svc.agent.v1.AlertSeverity;
export const HandshakePurpose = v1.WorkerHandshakePurpose;
export type HandshakePurpose = svc.agent.v1.WorkerHandshakePurpose;
export const ProofAlgorithm = v1.WorkerHandshakeProofAlgorithm;
export const HandshakeRejection = v1.WorkerHandshakeRejectionReason;
export type HandshakeRejection = svc.agent.v1.WorkerHandshakeRejectionReason;
export const ComponentRole = v1.ComponentRole;
export type ComponentRole = svc.agent.v1.ComponentRole;
/** Application codes 1000 to 9999 are valid values without a name. */
export const WireErrorCode = v1.ErrorCode;
export type WireErrorCode = svc.agent.v1.ErrorCode;
