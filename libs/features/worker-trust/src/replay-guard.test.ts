import { encodePacket, heartbeatPacket, jobProgressPacket, withSignature } from '@svc/contract';
import { findSignatureFault, openPacketKey } from '@svc/bus';
import { useRedisStore } from '@svc/fixtures/store';
import { keys } from '@svc/store';
import { generateKeyPairSync, sign } from 'node:crypto';
import type { AttestedPacket } from './attestation';
import { ReplayGuard } from './replay-guard';
import { WorkerTrustRepository } from './worker-trust.repository';

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

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const key = openPacketKey(publicKey.export({ type: 'spki', format: 'pem' }).toString());
const beat = (sentMs: number, worker_id = 'w1') =>
  heartbeatPacket({ trace_id: '', sender_id: worker_id, nowUs: sentMs * 1_000 }, { worker_id });
const report = (sentMs: number, worker = 'w1') =>
  jobProgressPacket({ trace_id: '', sender_id: worker, nowUs: sentMs * 1_000 }, { job_id: 'j' });
const signed = (packet: AttestedPacket) => {
  const bytes = encodePacket(packet);
  return { packet, bytes: withSignature(bytes, sign('sha256', bytes, privateKey)) };
};

const use = useRedisStore();
const openGuard = (clock = { nowMs: () => Date.now() }) =>
  new ReplayGuard(new WorkerTrustRepository(use.store.redis), clock);

it('a packet is a replay with its signature and with the other valid form of it, a packet signed again is not', () => {
  const packet = beat(Date.now());
  const unsigned = encodePacket(packet);
  const [signature, other] = [sign('sha256', unsigned, privateKey), sign('sha256', unsigned, privateKey)];
  const [first, turned, again] = [signature, turn(signature), other].map((one) => withSignature(unsigned, one));
  const guard = openGuard();
  const isReplay = (bytes = unsigned) => guard.isReplay({ packet, bytes });

  expect(turned).not.toEqual(first);
  expect(findSignatureFault(turned ?? unsigned, [key], 0, 0)).toBeUndefined();
  expect([isReplay(first), isReplay(first), isReplay(turned), isReplay(again)]).toEqual([false, true, true, false]);
});

describe.each([
  ['a process', beat],
  ['Redis', report],
])('the memory of %s', (_, build) => {
  it('is bounded for each worker: very many packets of one displace none of another, and none of its own becomes new', async () => {
    const guard = openGuard();
    const isReplay = async (one: ReturnType<typeof signed>) => guard.isReplay(one);
    const other = signed(build(1_000, 'w2'));
    const sent = Array.from({ length: 2_100 }, (_, i) => signed(build(2_000 + i)));

    expect(await isReplay(other)).toBe(false);
    expect(await Promise.all(sent.map(isReplay))).not.toContain(true);

    expect(await isReplay(other)).toBe(true);
    expect(await Promise.all(sent.map(isReplay))).not.toContain(false);
    expect(await isReplay(signed(build(9_000)))).toBe(false);
    expect(await use.store.redis.zcard(keys.packetsSeen('w1'))).toBeLessThanOrEqual(2_048);
  });
});

it('packets whose signatures are no longer valid are forgotten, those of silent workers too', () => {
  let nowMs = 0;
  const guard = openGuard({ nowMs: () => nowMs });
  const first = signed(beat(1));
  const isReplay = (one = first) => guard.isReplay(one);

  expect([isReplay(), isReplay()]).toEqual([false, true]);
  nowMs = 10 * 60_000;
  expect(isReplay()).toBe(true);
  nowMs = 40 * 60_000;
  expect(isReplay(signed(beat(2, 'w2')))).toBe(false);
  expect(isReplay()).toBe(false);
});
