/** Values of SVC_ENV: which rules are in effect. */
export const environments = ['production', 'development'] as const;

export const environmentSpellings: Record<string, string> = { prod: 'production', dev: 'development' };
