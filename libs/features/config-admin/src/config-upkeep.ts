import { type FleetFiles, syncFiles } from '@svc/registry';
import type { AnnounceDeps, ChangeDeps } from '@svc/settings';
import { migrateBundles } from './migrate-bundles';

export interface UpkeepHooks {
  /** Bundles of an older version were moved to system/policy. */
  onMoved(ids: readonly string[]): void;
  /** The value under `bundles` is not a map, in the source or in the target, so the bundles cannot be moved. */
  onStays(): void;
}

export interface ConfigUpkeep {
  /** Brings the documents up to date once, and again after a file change; a failed run is repeated by the next. */
  run(): Promise<void>;
  fileChanged(): void;
}

/** Config maintenance at scheduler start: writes the files into the documents and migrates old documents. */
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
