import { secretPatterns } from './built-in/secret';

/** Credentials recognizable by their form alone, without a related word or a further check. */
export const tokenPatternNames = [
  'aws_access_key_id',
  'github_token',
  'gitlab_token',
  'slack_token',
  'slack_webhook',
  'stripe_key',
  'model_provider_key',
  'npm_token',
  'google_api_key',
  'google_oauth_secret',
  'sendgrid_key',
  'jwt',
  'private_key',
] as const;

const forms = secretPatterns
  .filter(({ name }) => tokenPatternNames.some((known) => known === name))
  .map(({ regex }) => new RegExp(regex, 'g'));

/**
 * Replaces keys and tokens in a text by `[REDACTED]`, using patterns of the `secret` scanner. Cheaper than a scan and
 * without limits, but only for short texts, such as the fields of a log line.
 */
export const maskTokens = (text: string): string =>
  forms.reduce((masked, form) => masked.replace(form, withoutToken), text);

/** If a pattern has a group `value`, only that group is the token. */
function withoutToken(match: string, ...rest: unknown[]): string {
  const groups = rest.at(-1) as { value?: string } | string;
  const token = typeof groups === 'object' ? (groups.value ?? match) : match;
  return match.replace(token, '[REDACTED]');
}
