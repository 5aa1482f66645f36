/** Features do not import the wire layer. */
export {
  findSignatureFault,
  isSignedBy,
  openPacketKey,
  type PacketKey,
  type PacketSigner,
  type SignatureFault,
} from '@svc/jetstream';
