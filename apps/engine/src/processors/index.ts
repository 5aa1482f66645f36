import { evalRuns } from './eval-runs';
import { runPasses } from './workflow-passes';
import { schedules } from './workflow-schedules';
import { runTimers } from './workflow-timers';

export const processors = [runPasses, runTimers, schedules, evalRuns];
