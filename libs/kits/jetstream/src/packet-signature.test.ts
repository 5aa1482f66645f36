import { decodePacket, encodePacket, heartbeatPacket, splitSignature } from '@svc/contract';
import { generateKeyPairSync } from 'node:crypto';
import { findSignatureFault, isSignedBy, maxPacketAgeMs, openPacketKey, openPacketSigner } from './packet-signature';

const newKey = (namedCurve = 'P-256') => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve });
  return {
    secret: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    pem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  };
};
const nowMs = 1_800_000_000_000;
const labels = { zebra: '1', ant: '2', '10': 'ten', '9': 'nine' };
const beat = (worker_id = 'w1') =>
  encodePacket(heartbeatPacket({ trace_id: '', sender_id: worker_id, nowUs: nowMs * 1_000 }, { worker_id, labels }));

describe('packet signatures', () => {
  const own = newKey();
  const signer = openPacketSigner(own.secret);
  const keys = [openPacketKey(own.pem)];
  const sealed = signer.seal(beat());
  const fault = (bytes: Uint8Array, using = keys, sentMs = nowMs) => findSignatureFault(bytes, using, sentMs, nowMs);

  it('are valid for the packet as it was sent, which reads like the unsigned one', () => {
    const [signed, unsigned] = [decodePacket(sealed), decodePacket(beat())];

    expect(fault(sealed)).toBeUndefined();
    expect(signed).toMatchObject({ kind: 'ok', packet: { body: unsigned.kind === 'ok' ? unsigned.packet.body : {} } });
    expect(signer.keyId).toBe(keys[0]?.id);
  });

  it('cover every byte, and fields that this version does not know', () => {
    const changed = [...sealed.keys()].map((at) => {
      const copy = Uint8Array.from(sealed);
      copy[at] = (copy[at] ?? 0) ^ 1;
      return fault(copy);
    });

    expect(new Set(changed)).not.toContain(undefined);
    const unknownField = Buffer.from([0xf8, 0x3e, 0x01]);
    expect(fault(Buffer.concat([sealed, unknownField]))).toBe('signature_invalid');
    expect(fault(Buffer.concat([sealed, beat('w2')]))).toBe('signature_invalid');
  });

  it('are missing, of another key, of another packet, or several', () => {
    const { signature = new Uint8Array() } = splitSignature(signer.seal(beat('w2'))) ?? {};
    const swapped = Buffer.concat([beat(), Buffer.from([14 * 8 + 2, signature.length]), signature]);

    expect(fault(beat())).toBe('signature_missing');
    expect(fault(openPacketSigner(newKey().secret).seal(beat()))).toBe('signature_invalid');
    expect(fault(swapped)).toBe('signature_invalid');
    expect(fault(Buffer.concat([sealed, Buffer.from([14 * 8 + 2, signature.length]), signature]))).toBe('signature_invalid');
    expect(fault(Buffer.from('no packet'))).toBe('signature_invalid');
    expect(fault(sealed, [])).toBe('signature_invalid');
  }); // prettier-ignore

  it('of the old and of the new key are valid during a rotation', () => {
    const next = newKey();
    const both = [...keys, openPacketKey(next.pem)];

    expect([fault(sealed, both), fault(openPacketSigner(next.secret).seal(beat()), both)]).toEqual([undefined, undefined]);
    expect(fault(sealed, [openPacketKey(next.pem)])).toBe('signature_invalid');
  }); // prettier-ignore

  it.each([-1, 1])('are valid for five minutes (%s)', (sign) => {
    expect(fault(sealed, keys, nowMs + sign * maxPacketAgeMs)).toBeUndefined();
    expect(fault(sealed, keys, nowMs + sign * (maxPacketAgeMs + 1))).toBe('signature_invalid');
  });

  it('cover the deterministic encoding, so that a verifier may encode the packet again', () => {
    const order = ['9', '10', 'ant', 'zebra'].map((name) => Buffer.from(sealed).indexOf(`${name}\u0012`));

    expect(order.every((at) => at > 0)).toBe(true);
    expect(signer.seal(beat()).length).toBeGreaterThan(beat().length);
  });

  it('refuse keys of other kinds', () => {
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 }).publicKey;

    expect(() => openPacketKey(rsa.export({ type: 'spki', format: 'pem' }).toString())).toThrow('P-256');
    expect(() => openPacketSigner(newKey('P-384').secret)).toThrow('P-256');
    expect(isSignedBy(Buffer.from('a'), Buffer.from('b'), (keys[0] ?? fail()).key)).toBe(false);
  });
});

const fail = (): never => {
  throw new Error('no key');
};
