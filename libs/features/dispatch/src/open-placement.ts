import type { DataUrlSettings } from '@svc/jobs';
import type { Boot } from '@svc/runtime';
import type { JobEndings } from '@svc/store';
import { PlacementAtSubmission, type PlacementDeps } from './place-new-job';

export interface PlacementSettings {
  isEnabled: boolean;
  endings: Pick<JobEndings, 'follow'>;
  tokens: DataUrlSettings['tokens'] | undefined;
  /** SVC_DATA_URL_BASE */
  base: string | undefined;
}

/** Opens the placement of permitted jobs by the accepting call; undefined when it is switched off. */
export function openPlacement(
  { log, onStop }: Pick<Boot<object>, 'log' | 'onStop'>,
  { isEnabled, endings, tokens, base }: PlacementSettings,
  deps: Omit<PlacementDeps, 'dataUrls' | 'mayDispatch'>,
): PlacementAtSubmission | undefined {
  if (!isEnabled) return undefined;
  // Schedulers with this key may add data URLs to dispatches, and without the base URL this process could not.
  const mayDispatch = tokens === undefined || base !== undefined;
  if (!mayDispatch)
    log.info('jobs are not dispatched at submission: SVC_DATA_URL_KEY is set without SVC_DATA_URL_BASE');
  const dataUrls = tokens && base ? { tokens, base } : undefined;
  const placement = new PlacementAtSubmission({ ...deps, dataUrls, mayDispatch });
  endings.follow((id) => placement.ended(id));
  // Before the bus is closed. A dispatch that is not published by then is published by the reconciler.
  onStop('placement', () => placement.idle());
  return placement;
}
