import { builtInScanners, parseScanners, type ScannerSet } from '@svc/scanning';
import { parentPort, workerData } from 'node:worker_threads';
import type { ScanQuestion, ScanThreadData } from './scan/scan-messages';
import { scanTexts } from './scan/scan-texts';

/** The scan thread. It keeps no time: the pool ends it when it takes too long. */
const set = scannersOf(workerData as ScanThreadData); // the pool starts it with nothing else
const never = () => false;

parentPort?.on('message', (question: ScanQuestion) => {
  parentPort?.postMessage(scanTexts(question, set, never) ?? []);
});

function scannersOf({ scannersText, source }: ScanThreadData): ScannerSet {
  if (scannersText === undefined) return builtInScanners;
  const parsed = parseScanners(scannersText, { source });
  if (!parsed.ok) throw new Error(`${source} was good before and is not now`);
  return parsed.scanners;
}
