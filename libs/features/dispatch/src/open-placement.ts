import type { DataUrlSettings } from '@svc/jobs';
import { type Base, jobBus, licenseLimits, type Platform } from '@svc/platform';
import type { Boot, dispatchMetrics, Handles } from '@svc/runtime';
import type { JobEndings } from '@svc/store';
import type { GrantDeps } from './dispatch-grants';
import type { JobTickets } from './inline-data';
import { PlacementAtSubmission, type PlacementDeps } from './place-new-job';
import { placementEvents } from './placement-events';

/** Settings of the process, named like its variables. */
export interface PlacementSettings {
  isEnabled: boolean;
  /** undefined = the value from config */
  isReadinessRequired: PlacementDeps['settings']['readinessRequired'];
  dataTokens: DataUrlSettings['tokens'] | undefined;
  dataUrlBase: string | undefined;
  tickets: JobTickets | undefined;
  grants: GrantDeps['grants'];
}

export interface PlacementParts extends Base, Pick<PlacementDeps, 'random' | 'fleet' | 'registry' | 'config'> {
  platform: Pick<Platform, 'bus' | 'license' | 'senderId'>;
  endings: Pick<JobEndings, 'follow'>;
  metrics: Handles<typeof dispatchMetrics>;
}

/** Opens the placement of permitted jobs by the accepting call; undefined when it is switched off. */
export function openPlacement(
  { log, onStop }: Pick<Boot<object>, 'log' | 'onStop'>,
  { isEnabled, isReadinessRequired, dataTokens: tokens, dataUrlBase: base, tickets, grants }: PlacementSettings,
  { platform, endings, metrics, ...parts }: PlacementParts,
): PlacementAtSubmission | undefined {
  if (!isEnabled) return undefined;
  // Schedulers with this key may add data URLs to dispatches, and without the base URL this process could not.
  const mayDispatch = tokens === undefined || base !== undefined;
  if (!mayDispatch)
    log.info('jobs are not dispatched at submission: SVC_DATA_URL_KEY is set without SVC_DATA_URL_BASE');
  const placement = new PlacementAtSubmission({
    ...parts,
    bus: jobBus(platform.bus),
    senderId: platform.senderId,
    license: licenseLimits(platform.license),
    settings: { readinessRequired: isReadinessRequired },
    events: placementEvents(metrics, log, () => parts.fleet.pools()),
    dataUrls: tokens && base ? { tokens, base } : undefined,
    tickets,
    grants,
    mayDispatch,
  });
  endings.follow((end) => placement.ended(end));
  // Before the bus is closed. A dispatch that is not published by then is published by the reconciler.
  onStop('placement', () => placement.idle());
  return placement;
}
