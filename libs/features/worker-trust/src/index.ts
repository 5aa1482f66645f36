/** Who a worker is: its credentials, and the checks of its packets against them. */
export {
  allowsTopic,
  type AttestedDelivery,
  type AttestedPacket,
  isServiceSender,
  type RefusalReason,
  refusalReasons,
  type WorkerScope,
} from './attestation';
export { type CredentialDeps, toStoredToken, workersScope } from './create-credential';
export { renderNatsAccounts } from './access/nats-accounts';
export { openStoreAccess, type StoreAccessEvents } from './access/open-store-access';
export { serveHandshakes } from './serve-handshakes';
export { openWorkerTrust } from './open-worker-trust';
export { workerTrustRoutes, type WorkerTrustContext } from './routes';
export { type RefusedWorker, type TrustMode, WorkerTrust } from './worker-trust';
export { WorkerTrustRepository } from './worker-trust.repository';
