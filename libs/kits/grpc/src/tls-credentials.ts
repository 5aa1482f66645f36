import { ServerCredentials } from '@grpc/grpc-js';
import { tlsServerOptions, type TlsMaterial, type TlsVersion } from '@svc/runtime';

/** TLS of a gRPC listener with a minimum version, and with material that may be replaced while it listens. */
export class TlsCredentials extends ServerCredentials {
  constructor(
    material: TlsMaterial,
    private readonly minVersion: TlsVersion,
  ) {
    const { requestCert, rejectUnauthorized } = {
      requestCert: false,
      rejectUnauthorized: false,
      ...tlsServerOptions(material, minVersion),
    };
    super({ requestCert, rejectUnauthorized }, contextOf(material, minVersion));
  }

  /** New connections get the new certificate; those that are open stay. */
  replace(material: TlsMaterial): void {
    this.updateSecureContextOptions(contextOf(material, this.minVersion));
  }

  override _equals(other: ServerCredentials): boolean {
    return this === other;
  }
}

const contextOf = ({ cert, key, ca }: TlsMaterial, minVersion: TlsVersion) => ({
  cert,
  key,
  minVersion: `TLSv${minVersion}` as const,
  ...(ca && { ca }),
});
