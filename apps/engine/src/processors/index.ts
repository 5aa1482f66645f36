import { runPasses } from './run-passes';
import { runTimers } from './run-timers';
import { schedules } from './schedules';

export const processors = [runPasses, runTimers, schedules];
