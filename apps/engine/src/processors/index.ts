import { runPasses } from './run-passes';
import { runTimers } from './run-timers';

export const processors = [runPasses, runTimers];
