import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Clock } from './clock';
import type { EnvSpec, Variable, Variables } from './env';
import type { commonMetrics, Handles, OpenMetrics } from './metrics';

type CertificateMetrics = Handles<Pick<typeof commonMetrics, 'certExpiresSeconds' | 'certChainValid'>>;

interface CertificateSeries {
  labels: { component: string; role: string; path: string };
  /** Of the certificate in the file that expires first; absent when the file cannot be read. */
  expiresMs?: number;
  isValid: boolean;
}

/** Reads the certificates and authorities named by the environment at each scrape, because their files may change. */
export function certificateGauges<T extends Variables>(
  { metrics, onScrape }: { metrics: CertificateMetrics; onScrape: OpenMetrics<typeof commonMetrics>['onScrape'] },
  spec: Pick<EnvSpec<T>, 'service' | 'variables'>,
  values: Readonly<Partial<Record<keyof T, unknown>>>,
  clock: Pick<Clock, 'nowMs'>,
): void {
  const files = Object.entries<Variable>(spec.variables).flatMap(([key, { name, type }]) => {
    const path = values[key];
    return type === 'path' && /_(CERT|CA)$/.test(name) && typeof path === 'string' ? [{ name, path }] : [];
  });
  onScrape(async () => {
    const nowMs = clock.nowMs();
    const series = await Promise.all(
      files.map(async ({ name, path }): Promise<CertificateSeries> => {
        const labels = { component: spec.service, role: roleNamed(name), path: basename(path) };
        return { labels, ...(await check(path, nowMs).catch(() => ({ isValid: false }))) };
      }),
    );
    metrics.certChainValid.replace(series.map(({ labels, isValid }) => ({ labels, value: isValid ? 1 : 0 })));
    metrics.certExpiresSeconds.replace(
      series.flatMap(({ labels, expiresMs }) =>
        expiresMs === undefined ? [] : [{ labels, value: (expiresMs - nowMs) / 1_000 }],
      ),
    );
  });
}

/** `nats_ca` of NATS_TLS_CA. */
const roleNamed = (name: string) => name.toLowerCase().replace('_tls_', '_');

async function check(path: string, nowMs: number): Promise<{ expiresMs: number; isValid: boolean }> {
  const texts = (await readFile(path, 'utf8')).split(/(?=-----BEGIN CERTIFICATE-----)/);
  const chain = texts.filter((text) => text.startsWith('-----BEGIN')).map((text) => new X509Certificate(text));
  if (chain.length === 0) throw new Error('no certificate in the file');
  const expiresMs = Math.min(...chain.map(({ validTo }) => Date.parse(validTo)));
  return { expiresMs, isValid: nowMs < expiresMs && chain.every(({ validFrom }) => Date.parse(validFrom) <= nowMs) };
}
