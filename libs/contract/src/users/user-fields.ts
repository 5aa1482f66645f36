import Joi from 'joi';
import { strings, text, trimmed } from '../fields';
import { shape } from '../shape';

/** A user, or the principal of another credential. */
export interface AuthUser {
  id: string;
  username: string;
  email?: string;
  display_name: string;
  tenant: string;
  roles: string[];
  source: 'user' | 'api_key';
  disabled?: boolean;
  /** A code is required after the password. */
  totp_enabled?: boolean;
  created_at?: string;
  updated_at?: string;
  last_login_at?: string;
}

export const authUser = shape<AuthUser>({
  required: {
    id: text('User id; of other credentials the principal, else a name made of the key id.'),
    username: text('Username.'),
    display_name: text('Display name.'),
    tenant: text('Tenant.'),
    roles: strings('The role.'),
    source: Joi.string<'user' | 'api_key'>().valid('user', 'api_key').description('api_key for every credential but a user.'),
  },
  optional: {
    email: text('E-mail address.'),
    disabled: Joi.boolean().description('Present if the user is disabled.'),
    totp_enabled: Joi.boolean().description('Present if sign-in by password needs a code.'),
    created_at: text('Creation, RFC 3339; of users only, as those below.'),
    updated_at: text('Last change, RFC 3339.'),
    last_login_at: text('Last sign-in, RFC 3339.'),
  },
}); // prettier-ignore

export const userId = Joi.string().min(1).max(128).description('User id.');

/** Letters, digits and signs that need no escape in names of principals. */
export const newUsername = trimmed()
  .pattern(/^[\p{L}\p{N}][\p{L}\p{N}._@+-]{0,127}$/u)
  .messages({ 'string.pattern.base': '{{#label}} must begin with a letter or digit, followed by letters, digits and . _ @ + -' })
  .description('Username, unique in the tenant ignoring case.'); // prettier-ignore

export const emailAddress = trimmed()
  .email({ tlds: false, minDomainSegments: 1 })
  .max(254)
  .allow('')
  .description('E-mail address, unique among the enabled users of the tenant ignoring case.');

/** What is entered; the rule for new passwords is checked by the operation. */
export const enteredPassword = Joi.string().max(1_024).allow('');

export const roleNameField = trimmed().min(1).max(64);

export const displayName = trimmed().max(256).allow('').description('Display name.');
