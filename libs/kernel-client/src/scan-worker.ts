import { parentPort, workerData } from 'node:worker_threads';
import type { ScanQuestion, ScanThreadData } from './scan/scan-messages';
import { scanTexts } from './scan/scan-texts';
import { readScanners } from './scan/scanners';

/** The scan thread. It keeps no time: the pool ends it when it takes too long. */
const { text } = workerData as ScanThreadData; // the pool starts it with nothing else
const read = readScanners(text, 'scanners');
if (!read.ok) throw new Error(`the scanners were good before and are not now: ${read.problems.join('; ')}`);
const { set } = read.scanners;
const never = () => false;

parentPort?.on('message', (question: ScanQuestion) => {
  parentPort?.postMessage(scanTexts(question, set, never));
});
