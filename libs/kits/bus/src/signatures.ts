/** Features do not import the wire layer. */
export {
  findSignatureFault,
  openPacketKey,
  type PacketKey,
  type PacketSigner,
  type SignatureFault,
} from '@svc/jetstream';
