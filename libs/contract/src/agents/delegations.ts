/** Replaced with the delegation slice. */
export const delegationEndpoints = [] as const;
