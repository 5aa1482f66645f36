import { parentPort, workerData } from 'node:worker_threads';
import { threadReady, type ScanQuestion, type ScanThreadData } from './scan/scan-messages';
import { scanTexts } from './scan/scan-texts';
import { readScanners } from './scan/scanners';

/** The scan thread. It checks the time between windows; the pool terminates it when a single window takes too long. */
const { text } = workerData as ScanThreadData; // set by the pool
const read = readScanners(text, 'scanners');
if (!read.ok) throw new Error(`the scanners were good before and are not now: ${read.problems.join('; ')}`);
const { set } = read.scanners;

parentPort?.on('message', (question: ScanQuestion) => {
  const untilMs = performance.now() + (question.limitMs ?? Infinity);
  parentPort?.postMessage(scanTexts(question, set, () => performance.now() > untilMs));
});
parentPort?.postMessage(threadReady);
