import { type FleetFiles, syncFiles } from '@svc/registry';
import type { AnnounceDeps, ChangeDeps } from '@svc/settings';
import { migrateBundles } from './migrate-bundles';

export interface UpkeepHooks {
  /** Bundles of an older version were moved to system/policy. */
  onMoved(ids: readonly string[]): void;
  /** Something stands under `bundles` that is no map, so that it cannot be moved, or not be moved to. */
  onStays(): void;
}

export interface ConfigUpkeep {
  /** Brings the documents up to date once, and again after a file changed; a run that failed is made good by the next. */
  run(): Promise<void>;
  fileChanged(): void;
}

/** What a scheduler does about config documents when it starts: files are written into them, old ones are migrated. */
export function configUpkeep(deps: ChangeDeps & AnnounceDeps, files: FleetFiles, hooks: UpkeepHooks): ConfigUpkeep {
  let isDue = true;
  return {
    fileChanged: () => {
      isDue = true;
    },
    async run() {
      if (!isDue) return;
      isDue = false;
      try {
        const { moved, stays } = await migrateBundles(deps);
        if (moved.length > 0) hooks.onMoved(moved);
        if (stays) hooks.onStays();
        await syncFiles(deps, files);
      } catch (error) {
        isDue = true;
        throw error;
      }
    },
  };
}
