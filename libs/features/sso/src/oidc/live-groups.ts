import { parseGroupMapping } from '@svc/runtime';
import { defaultPlace, readDocument } from '@svc/settings';
import type { Store } from '@svc/store';
import type { GroupRoles } from './settings';

/** Keys of the config document system/default. */
export const groupKeys = { claim: 'SVC_OIDC_GROUPS_CLAIM', mapping: 'SVC_OIDC_GROUP_ROLE_MAPPING' } as const;

interface LiveGroupsDeps {
  store: Pick<Store, 'config'>;
  clock: { nowMs(): number };
  onProblem(message: string): void;
}

/** Time after which the document is read again, in case a notice was lost. */
const KEEP_MS = 30_000;

/**
 * Groups claim and roles by group: those of the environment, or those of system/default, which replace them. Read again after
 * a change notice, so that a change is in effect on all replicas within a second.
 */
export class LiveGroups {
  private kept: { groups: GroupRoles; untilMs: number } | undefined;
  private changes = 0;

  constructor(
    private readonly initial: GroupRoles,
    private readonly deps: LiveGroupsDeps,
  ) {}

  /** The document may have changed. */
  changed(): void {
    this.changes += 1;
    if (this.kept) this.kept.untilMs = 0;
  }

  async current(): Promise<GroupRoles> {
    const { kept, deps, changes } = this;
    if (kept && kept.untilMs > deps.clock.nowMs()) return kept.groups;
    const document = await readDocument(deps, defaultPlace);
    const groups = this.parse(document?.data ?? {}) ?? kept?.groups ?? this.initial;
    // A change during the read may not be part of it.
    const untilMs = changes === this.changes ? deps.clock.nowMs() + KEEP_MS : 0;
    this.kept = { groups, untilMs };
    return groups;
  }

  /** Undefined when the document has a mapping that is not valid: then the last valid one stays in effect. */
  private parse(data: Readonly<Record<string, unknown>>): GroupRoles | undefined {
    const claim = data[groupKeys.claim];
    const text = data[groupKeys.mapping];
    const named = typeof claim === 'string' && claim !== '' ? claim : this.initial.claim;
    if (text === undefined) return { claim: named, mapping: this.initial.mapping };
    const { mapping, fault } = typeof text === 'string' ? parseGroupMapping(text) : { mapping: new Map(), fault: 'no text' };
    if (fault === undefined) return { claim: named, mapping };
    this.deps.onProblem(`${groupKeys.mapping} of system/default is not valid (${fault}); the previous mapping stays in effect`);
    return undefined;
  } // prettier-ignore
}
