import { encodePacket, heartbeatPacket, withSignature } from '@svc/contract';
import { findSignatureFault, openPacketKey } from '@svc/bus';
import { generateKeyPairSync, sign } from 'node:crypto';
import { ReplayGuard } from './replay-guard';

/** Order of the group of P-256. */
const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/** (r, s) as (r, n - s), which verifies as well. */
function turn(signature: Uint8Array): Uint8Array {
  const head = signature.subarray(0, 4 + (signature[3] ?? 0));
  const s = BigInt(`0x${Buffer.from(signature.subarray(head.length + 2)).toString('hex')}`);
  const hex = (order - s).toString(16).padStart(64, '0');
  // DER integers are signed and minimal.
  const bytes = Buffer.from(`00${hex}`, 'hex');
  let from = 0;
  while (bytes[from] === 0 && (bytes[from + 1] ?? 0) < 0x80) from += 1;
  const turned = bytes.subarray(from);
  const content = Buffer.concat([head.subarray(2), Uint8Array.of(2, turned.length), turned]);
  return Buffer.concat([Uint8Array.of(0x30, content.length), content]);
}

it('a packet is a replay with its signature and with the other valid form of it, a packet signed again is not', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = openPacketKey(publicKey.export({ type: 'spki', format: 'pem' }).toString());
  const packet = heartbeatPacket({ trace_id: '', sender_id: 'w1', nowUs: Date.now() * 1_000 }, { worker_id: 'w1' });
  const unsigned = encodePacket(packet);
  const [signature, other] = [sign('sha256', unsigned, privateKey), sign('sha256', unsigned, privateKey)];
  const [first, turned, again] = [signature, turn(signature), other].map((one) => withSignature(unsigned, one));
  const guard = new ReplayGuard({ rememberPackets: () => Promise.reject(new Error()) }, { nowMs: () => Date.now() });
  const isReplay = (bytes = unsigned) => guard.isReplay({ packet, bytes });

  expect(turned).not.toEqual(first);
  expect(findSignatureFault(turned ?? unsigned, [key], 0, 0)).toBeUndefined();
  expect([isReplay(first), isReplay(first), isReplay(turned), isReplay(again)]).toEqual([false, true, true, false]);
});
