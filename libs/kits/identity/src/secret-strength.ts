import { findWeakness } from '@svc/runtime';

/** Minimum length of secrets in production, in characters. See docs/reference/http.md#authentication. */
export const secretMinLength = { admin_password: 16, api_key: 32, store_password: 12 } as const;
export type SecretKind = keyof typeof secretMinLength;

/**
 * Reason a secret is too weak for production, or undefined, by the rules for secrets in the environment. The reason never
 * quotes the secret.
 *
 * @returns a clause that follows the variable's name, such as `must have at least 32 characters`
 */
export function secretProblem(kind: SecretKind, secret: string): string | undefined {
  const needed = findWeakness(secret, secretMinLength[kind]);
  return needed && `must have ${needed}`;
}
