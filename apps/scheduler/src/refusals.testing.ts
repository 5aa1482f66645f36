import type { Scheduler } from './scheduler.testing';

export type { Scheduler };

const line = /^svc_scheduler_worker_refusals_total\{(.*)\} [1-9]/;
const label = (labels: string, name: string) => new RegExp(`${name}="([^"]*)"`).exec(labels)?.[1] ?? '';

/** The kinds of refusals that a scheduler has counted, each as `<kind> <reason> <mode>`. */
export const listRefusals = async (scheduler: Pick<Scheduler, 'metrics'>): Promise<string[]> =>
  (await scheduler.metrics())
    .split('\n')
    .flatMap((text) => line.exec(text)?.[1] ?? [])
    .map((labels) => ['kind', 'reason', 'mode'].map((name) => label(labels, name)).join(' '));
