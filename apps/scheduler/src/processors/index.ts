import { jobs } from './jobs';
import { jobsHeld } from './jobs-held';
import { jobsInFlight } from './jobs-in-flight';
import { jobsWaiting } from './jobs-waiting';
import { outputScan } from './output-scan';

export const processors = [jobs, jobsWaiting, jobsHeld, jobsInFlight, outputScan];
