import { ServerCredentials } from '@grpc/grpc-js';
import { tlsServerOptions, type TlsMaterial, type TlsVersion } from '@svc/runtime';

/** TLS of a gRPC listener with a minimum version, and with material that can be replaced while listening. */
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
    super({ requestCert, rejectUnauthorized }, buildContext(material, minVersion));
  }

  /** New connections use the new certificate; open ones are kept. */
  replace(material: TlsMaterial): void {
    this.updateSecureContextOptions(buildContext(material, this.minVersion));
  }

  override _equals(other: ServerCredentials): boolean {
    return this === other;
  }
}

const buildContext = ({ cert, key, ca }: TlsMaterial, minVersion: TlsVersion) => ({
  cert,
  key,
  minVersion: `TLSv${minVersion}` as const,
  ...(ca && { ca }),
});
