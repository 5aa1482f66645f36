import { StartError } from '@svc/runtime';
import { selfSigned } from '@svc/testing';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SamlProvider } from './provider';
import type { SamlSettings } from './settings';

const certificate = (name: string): string => selfSigned(name).cert.replace(/-----[A-Z ]+-----|\n/g, '');
const [first, second] = [certificate('first.idp'), certificate('second.idp')];
/** Metadata of a provider whose keys are certificates (base64). */
const describeIdp = (...certificates: string[]): string =>
  [
    '<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://idp.example">',
    '<IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">',
    ...certificates.map((text) => `<KeyDescriptor use="signing"><KeyInfo xmlns="http://www.w3.org/2000/09/xmldsig#"><X509Data><X509Certificate>${text}</X509Certificate></X509Data></KeyInfo></KeyDescriptor>`),
    '<SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="https://idp.example/sso"/>',
    '</IDPSSODescriptor></EntityDescriptor>',
  ].join(''); // prettier-ignore
const reply =
  (body: string, status = 200): RequestListener =>
  (_, res) =>
    void res.writeHead(status).end(body);
const unavailable = { errorCode: 'upstream_service_error' };

describe('metadata of a SAML provider by URL', () => {
  let server: Server;
  let handler: RequestListener;
  let requests = 0;
  let nowMs = 0;
  let problems: string[] = [];
  beforeAll(async () => {
    server = createServer((req, res) => {
      requests += 1;
      handler(req, res);
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
  beforeEach(() => {
    [requests, nowMs, problems] = [0, 0, []];
    handler = reply(describeIdp(first));
  });
  const open = (settings: Partial<SamlSettings> = {}) => {
    const metadataUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/metadata`;
    return new SamlProvider({ metadataUrl, metadata: '', httpsOnly: false, ...settings } as SamlSettings, {
      nowMs: () => nowMs,
      onProblem: (_, error) => void problems.push((error as Error).message),
      timeoutMs: 2_000,
    });
  };
  const countCertificates = async (provider: SamlProvider) => (await provider.metadata()).certificates.length;

  it('are read with the first sign-in, once for all that wait, and kept for an hour', async () => {
    const provider = open();
    expect(requests).toBe(0);

    const all = await Promise.all([provider.metadata(), provider.metadata()]);
    nowMs = 3_599_999;
    const later = await provider.metadata();

    expect(later).toMatchObject({ entityId: 'https://idp.example', signOn: { redirect: 'https://idp.example/sso' } });
    expect([...all, later].map(({ certificates }) => certificates.length)).toEqual([1, 1, 1]);
    expect([requests, problems]).toEqual([1, []]);
  });

  it('are read again after an hour, so that a new key of the provider is in effect', async () => {
    const provider = open();
    const before = await provider.metadata();

    handler = reply(describeIdp(second));
    nowMs = 3_600_000;
    const after = await provider.metadata();

    expect(after.certificates).not.toEqual(before.certificates);
    expect(requests).toBe(2);
  });

  it('stay in effect while they cannot be read again, which is tried every five seconds', async () => {
    const provider = open();
    await provider.metadata();
    handler = reply('', 503);

    const counts = [];
    for (nowMs of [3_600_000, 3_604_999, 3_605_000]) counts.push(await countCertificates(provider));
    handler = reply(describeIdp(first, second));
    nowMs = 3_610_000;

    expect([...counts, await countCertificates(provider)]).toEqual([1, 1, 1, 2]);
    expect([requests, problems]).toEqual([4, ['the provider answered 503', 'the provider answered 503']]);
  });

  const hangs: RequestListener = () => undefined;
  const stops: RequestListener = (_, res) => void res.writeHead(200).write('<EntityDescriptor');
  it.each<[string, RequestListener, RegExp]>([
    ['404', reply('not here', 404), /the provider answered 404/],
    ['a redirect', (_, res) => void res.writeHead(302, { Location: '/other' }).end(), /the provider answered 302/],
    ['a page', reply('<!DOCTYPE html><html><body>Sign in</body></html>'), /not XML, or has a document type/],
    ['no XML', reply('{"error":"maintenance"}'), /not XML, or has a document type/],
    ['no metadata', reply('<feed/>'), /must describe exactly one identity provider/],
    ['no certificate', reply(describeIdp()), /has no certificate for signatures/],
    ['a broken certificate', reply(describeIdp('QUJD')), /certificate that cannot be read/],
    ['more than 1 MiB', reply(describeIdp(first) + ' '.repeat(1_048_576)), /larger than the limit/],
    ['nothing', hangs, /no complete response within the time limit/],
    ['a part of the response', stops, /no complete response within the time limit/],
    ['a closed connection', (req) => void req.socket.destroy(), /connection/],
  ])('upstream_service_error: the provider answers with %s; it is asked again after five seconds', async (_, bad, reason) => {
    const provider = open();
    handler = bad;

    await expect(provider.metadata()).rejects.toMatchObject(unavailable);
    nowMs = 4_999;
    await expect(provider.metadata()).rejects.toMatchObject(unavailable);
    expect([requests, problems]).toEqual([1, [expect.stringMatching(reason)]]);

    handler = reply(describeIdp(first));
    nowMs = 5_000;
    expect(await countCertificates(provider)).toBe(1);
  }); // prettier-ignore

  it('are not read without TLS in production', async () => {
    await expect(open({ httpsOnly: true }).metadata()).rejects.toMatchObject(unavailable);

    expect([requests, problems]).toEqual([0, [expect.stringContaining('the URL scheme is not permitted')]]);
  });
});

it('metadata in the environment that are not valid prevent startup, and the error names the variable', () => {
  const settings = { metadataUrl: '', metadata: describeIdp(), httpsOnly: false } as SamlSettings;
  const start = () => new SamlProvider(settings, { nowMs: () => 0, onProblem: () => undefined });

  expect(start).toThrow(StartError);
  expect(start).toThrow(
    expect.objectContaining({
      message: 'SAML cannot be used: the metadata has no certificate for signatures',
      where: 'SVC_SAML_IDP_METADATA',
    }),
  );
});
