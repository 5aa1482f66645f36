import type { ActionBody } from '@svc/contract';
import { checkAction } from './check-action';
import type {
  ActionApproval,
  Actor,
  AgentScope,
  ActionCheckInput,
  ActionCheckLookups,
  Resolution,
} from './action-check';

export const buildAction = (fields: Partial<ActionBody>): ActionBody => ({
  kind: 'mutation',
  verb: 'write',
  filters: {},
  wildcards: [],
  risk_tags: [],
  ...fields,
});

export const buildActor = (fields: Partial<Actor> = {}): Actor => ({
  tenant: 'acme',
  isCrossTenant: false,
  role: 'admin',
  agent: undefined,
  ...fields,
});

export const buildAgent = (fields: Partial<AgentScope> = {}): AgentScope => ({
  isActive: true,
  allowedServers: ['files'],
  allowedTools: ['read_*'],
  allowedResources: ['doc:*'],
  entitlements: ['vault'],
  ...fields,
});

export const buildApproval = (fields: Partial<ActionApproval> = {}): ActionApproval => ({
  tenant: 'acme',
  status: 'approved',
  actionHash: undefined,
  isOwn: false,
  isConsumed: false,
  isExpired: false,
  ...fields,
});

/** Every name resolves to one public address; all other lookups are absent. */
export const buildLookups = (fields: Partial<ActionCheckLookups> = {}): ActionCheckLookups => ({
  resolve: (): Promise<Resolution> => Promise.resolve({ kind: 'addresses', addresses: ['93.184.216.34'] }),
  approval: () => Promise.resolve(undefined),
  ...fields,
});

/** `passed`, or `<check without its prefix> <effect> <reason>`. */
export async function outcome(
  fields: Partial<ActionBody>,
  {
    actor,
    world,
    dangerousParameters = [],
  }: Partial<Pick<ActionCheckInput, 'actor' | 'world' | 'dangerousParameters'>> = {},
): Promise<string> {
  const found = await checkAction({
    action: buildAction(fields),
    actor: actor ?? buildActor(),
    world: world ?? buildLookups(),
    dangerousParameters,
  });
  if (!found) return 'passed';
  const gate = found.gate.replace('actiongate.', '');
  return `${gate} ${found.kind === 'human' ? 'human' : found.status} ${found.subReason}`;
}
