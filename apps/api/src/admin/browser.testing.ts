import { chromium, type Browser } from 'playwright-core';

const quiet = [
  '--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync',
]; // prettier-ignore

/** Starts Chromium, which `npm run setup -- --browser` installs. @param hosts address and port by host name */
export function openBrowser(hosts: Readonly<Record<string, string>> = {}): Promise<Browser> {
  const rules = Object.entries(hosts).map(([name, address]) => `MAP ${name} ${address}`);
  return chromium.launch({
    executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
    args: [...quiet, ...(rules.length > 0 ? [`--host-resolver-rules=${rules.join(',')}`] : [])],
  });
}
