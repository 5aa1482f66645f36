import type { Resolution } from './action-check';
import { outcome, buildLookups } from './action-checks.testing';

const resolving = (...addresses: string[]) =>
  buildLookups({ resolve: () => Promise.resolve({ kind: 'addresses', addresses }) });
const get = (target_url: string, world = buildLookups()) =>
  outcome({ kind: 'url', verb: 'read', target_url }, { world });

describe('actiongate.url', () => {
  it.each([
    ['https://example.com/a?b=c', 'passed'],
    ['http://93.184.216.34/', 'passed'],
    ['https://[2606:4700::1111]/', 'passed'],
    ['not a url', '403 malformed'],
    ['http://', '403 malformed'],
    ['ftp://example.com/', '403 scheme'],
    ['file:///etc/passwd', '403 scheme'],
    ['javascript:alert(1)', '403 scheme'],
    ['http://169.254.169.254/latest', '403 metadata_service:address'],
    ['http://[::ffff:169.254.169.254]/', '403 metadata_service:address'],
    ['http://[fd00:ec2::254]/', '403 metadata_service:address'],
    ['http://metadata.google.internal/', '403 metadata_service:name'],
    ['http://METADATA.google.internal./', '403 metadata_service:name'],
    ['http://127.0.0.1/', '403 dns_resolution:loopback'],
    ['http://2130706433/', '403 dns_resolution:loopback'],
    ['http://0x7f.1/', '403 dns_resolution:loopback'],
    ['http://0177.0.0.1/', '403 dns_resolution:loopback'],
    ['http://0.0.0.0/', '403 dns_resolution:loopback'],
    ['http://[::1]/', '403 dns_resolution:loopback'],
    ['http://[::]/', '403 dns_resolution:loopback'],
    ['http://10.1.2.3/', '403 dns_resolution:private'],
    ['http://172.31.0.1/', '403 dns_resolution:private'],
    ['http://172.32.0.1/', 'passed'],
    ['http://192.168.0.1/', '403 dns_resolution:private'],
    ['http://100.64.0.1/', '403 dns_resolution:private'],
    ['http://[fc00::1]/', '403 dns_resolution:private'],
    ['http://[64:ff9b::a00:1]/', '403 dns_resolution:private'],
    ['http://[2002:a00:1::]/', '403 dns_resolution:private'],
    ['http://169.254.0.1/', '403 dns_resolution:link_local'],
    ['http://[fe80::1]/', '403 dns_resolution:link_local'],
    ['http://224.0.0.1/', '403 dns_resolution:multicast'],
    ['http://[ff02::1]/', '403 dns_resolution:multicast'],
    ['http://localhost:8080/', '403 dns_resolution:private'],
    ['http://a.localhost/', '403 dns_resolution:private'],
    ['http://printer/', '403 dns_resolution:private'],
    ['http://db.internal/', '403 dns_resolution:private'],
    ['http://10.0.0.1.nip.io/', '403 dns_resolution:private'],
    ['http://user:pw@127.0.0.1/', '403 dns_resolution:loopback'],
    ['https://webhook.site/x', '403 exfiltration_host'],
    ['https://abc.oastify.com/', '403 exfiltration_host'],
    ['https://notwebhook.site/', 'passed'],
    [`https://example.com/?prompt=${'x'.repeat(1_025)}`, '403 prompt_exfil'],
    [`https://example.com/?prompt=${'x'.repeat(1_024)}`, 'passed'],
    [`https://example.com/?colour=${'x'.repeat(1_025)}`, 'passed'],
    ['https://pastebin.com/raw/x', 'passed'],
  ])('%s: %s', async (url, expected) => {
    expect(await get(url)).toBe(expected === 'passed' ? 'passed' : `url ${expected}`);
  });

  it('checks every address of a name', async () => {
    expect(await get('https://a.example/', resolving('93.184.216.34', '10.0.0.1'))).toBe('url 403 dns_rebind:private');
    expect(await get('https://a.example/', resolving('::1'))).toBe('url 403 dns_rebind:loopback');
    expect(await get('https://a.example/', resolving('169.254.169.254'))).toBe('url 403 metadata_service:resolved');
    expect(await get('https://a.example/', resolving('what is this'))).toBe('url 403 dns_rebind:reserved');
  });

  it('a missing host and a failing resolver have different reasons', async () => {
    const answering = (kind: 'failed' | 'no_address') => buildLookups({ resolve: () => Promise.resolve({ kind }) });

    expect(await get('https://a.example/', answering('no_address'))).toBe('url 403 dns_resolution:no_address');
    expect(await get('https://a.example/', answering('failed'))).toBe('url 503 dns_resolution:failed');
  });

  it('does not resolve a URL that its name or query already blocks', async () => {
    const asked: string[] = [];
    const world = buildLookups({
      resolve: (host): Promise<Resolution> => {
        asked.push(host);
        return Promise.resolve({ kind: 'no_address' });
      },
    });
    for (const url of ['https://secret.oastify.com/', `https://a.example/?messages=${'x'.repeat(2_000)}`, 'http://10.0.0.1/']) {
      await get(url, world);
    }

    expect(asked).toEqual([]);
  }); // prettier-ignore

  it('paste services can be read and not written', async () => {
    const paste = (verb: 'read' | 'write', target_url: string) => outcome({ kind: 'url', verb, target_url });

    expect(await paste('read', 'https://pastebin.com/raw/x')).toBe('passed');
    expect(await paste('write', 'https://pastebin.com/api')).toBe('url 403 paste_api');
  });

  it('personal data to a new host requires an approval', async () => {
    const send = (verb: 'read' | 'write', risk_tags: string[], isSeen?: boolean) =>
      outcome(
        { kind: 'url', verb, risk_tags, target_url: 'https://crm.example/' },
        { world: buildLookups(isSeen === undefined ? {} : { hasSeenHost: () => Promise.resolve(isSeen) }) },
      );

    expect(await send('write', ['Data:PII'])).toBe('url human pii_new_host');
    expect(await send('write', ['data:pii'], false)).toBe('url human pii_new_host');
    expect(await send('write', ['data:pii'], true)).toBe('passed');
    expect(await send('read', ['data:pii'])).toBe('passed');
    expect(await send('write', [])).toBe('passed');
  });
});
