import 'reflect-metadata';
import { randomBytes, webcrypto, X509Certificate } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as x509 from '@peculiar/x509';

/** Files of the local authority and of the one server certificate that all listeners share. */
export interface CertificateFiles {
  ca: string;
  cert: string;
  key: string;
}

const names = ['localhost', 'api', 'scheduler', 'engine', 'kernel', 'nats', 'redis'];
const addresses = ['127.0.0.1', '::1'];
const dayMs = 86_400_000;
const validDays = 825;
const renewDays = 30;

/** The certificates in this folder; created when missing or valid for less than 30 days. */
export async function ensureCertificates(dir: string, nowMs: number): Promise<CertificateFiles> {
  const files = { ca: join(dir, 'ca.crt'), cert: join(dir, 'server.crt'), key: join(dir, 'server.key') };
  if (Object.values(files).every((file) => existsSync(file)) && lastsUntilMs(files) > nowMs + renewDays * dayMs) {
    return files;
  }
  const made = await makeCertificates(nowMs);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  writeFileSync(files.ca, made.ca);
  writeFileSync(files.cert, made.cert);
  writeFileSync(files.key, made.key, { mode: 0o600 });
  chmodSync(files.key, 0o600);
  return files;
}

const lastsUntilMs = ({ ca, cert }: CertificateFiles) =>
  Math.min(...[ca, cert].map((file) => Date.parse(new X509Certificate(readFileSync(file)).validTo)));

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** In PEM. The private key of the authority is discarded, so that it cannot sign anything else. */
async function makeCertificates(nowMs: number) {
  x509.cryptoProvider.set(webcrypto);
  const [authority, server] = await Promise.all([keyPair(), keyPair()]);
  const dates = { notBefore: new Date(nowMs - dayMs), notAfter: new Date(nowMs + validDays * dayMs) };
  const serialNumber = () => `01${randomBytes(15).toString('hex')}`;
  const issuer = `CN=Local stack ${randomBytes(4).toString('hex')}`;

  const ca = await x509.X509CertificateGenerator.create({
    ...dates,
    serialNumber: serialNumber(),
    subject: issuer,
    issuer,
    publicKey: authority.publicKey,
    signingKey: authority.privateKey,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(authority.publicKey),
    ],
  });
  const cert = await x509.X509CertificateGenerator.create({
    ...dates,
    serialNumber: serialNumber(),
    subject: 'CN=localhost',
    issuer,
    publicKey: server.publicKey,
    signingKey: authority.privateKey,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth, x509.ExtendedKeyUsage.clientAuth]),
      await x509.AuthorityKeyIdentifierExtension.create(authority.publicKey),
      new x509.SubjectAlternativeNameExtension([
        ...names.map((value) => ({ type: 'dns' as const, value })),
        ...addresses.map((value) => ({ type: 'ip' as const, value })),
      ]),
    ],
  });
  const pkcs8 = await webcrypto.subtle.exportKey('pkcs8', server.privateKey);
  const pem = (text: string) => `${text.trim()}\n`;
  return {
    ca: pem(ca.toString('pem')),
    cert: pem(cert.toString('pem')),
    key: pem(x509.PemConverter.encode(pkcs8, 'PRIVATE KEY')),
  };
}

const keyPair = () => webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
