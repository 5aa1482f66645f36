import { selfSigned } from '@svc/testing';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { certificateGauges } from './certificate-gauges';
import { commonVariables } from './env';
import { commonMetrics, openMetrics } from './metrics';

const folder = mkdtempSync(join(tmpdir(), 'svc-certificates-'));
const path = join(folder, 'bus.crt');
const dayMs = 86_400_000;
const endsMs = Date.UTC(2049, 11, 31, 23, 59, 59);

describe('certificateGauges', () => {
  const clock = { nowMs: () => endsMs - dayMs };
  const opened = openMetrics(commonMetrics, { pod: 'p' });
  const values = { natsTlsCa: path, natsTlsCert: join(folder, 'missing.crt'), redisTlsKey: join(folder, 'redis.key') };
  certificateGauges(opened, { service: 'sample', variables: commonVariables }, values, clock);
  const series = async () => (await opened.text()).split('\n').filter((line) => line.startsWith('svc_cert_'));
  const of = (role: string, file: string) => `{component="sample",role="${role}",path="${file}",pod="p"}`;

  beforeEach(() => writeFileSync(path, selfSigned('bus').cert));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('show the time until a file’s certificates expire, and a file that cannot be read', async () => {
    expect(await series()).toEqual([
      `svc_cert_expires_seconds${of('nats_ca', 'bus.crt')} 86400`,
      `svc_cert_chain_valid${of('nats_ca', 'bus.crt')} 1`,
      `svc_cert_chain_valid${of('nats_cert', 'missing.crt')} 0`,
    ]);
  });

  it('follow the file, every certificate in it, and the clock', async () => {
    writeFileSync(path, selfSigned('bus').cert + selfSigned('authority').cert);
    clock.nowMs = () => endsMs + 1_000;

    expect(await series()).toContain(`svc_cert_chain_valid${of('nats_ca', 'bus.crt')} 0`);
    expect(await series()).toContain(`svc_cert_expires_seconds${of('nats_ca', 'bus.crt')} -1`);
  });
});
