import { effectiveConfig } from '@svc/contract';
import { readEffective } from '@svc/settings';
import { handle } from '../../context';

export const effective = handle(effectiveConfig, ({ query, caller, ctx }) => readEffective(ctx.config, caller, query));
