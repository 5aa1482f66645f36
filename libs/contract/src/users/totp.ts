import Joi from 'joi';
import { endpoint } from '../endpoint';
import { strings, text } from '../fields';
import { shape } from '../shape';
import { enteredPassword } from './user-fields';

const fault = 'auth_request_invalid';
const code = Joi.string().max(16).allow('').description('Code of the authenticator.');
const refusals = [
  ...([fault, 'auth_invalid_credentials', 'auth_user_not_found', 'auth_totp_conflict'] as const),
  ...(['auth_user_version_conflict', 'rate_limited', 'totp_unavailable', 'overloaded', 'store_unavailable'] as const),
] as const;

export interface BeginTotpBody {
  password: string;
}
export interface TotpEnrollment {
  secret: string;
  otpauth_url: string;
}

export const beginTotp = endpoint({
  id: 'auth.beginTotp',
  method: 'post',
  path: '/api/v1/auth/totp',
  summary: 'Begin to add a second factor',
  description: 'It is asked for only after a code was confirmed. Beginning again replaces the secret.',
  access: { roles: 'any' },
  audit: 'self',
  params: {},
  body: shape<BeginTotpBody>({ required: { password: enteredPassword.description('Password in use.') } }),
  violationCodes: { password: fault },
  answer: {
    status: 200,
    body: shape<TotpEnrollment>({
      required: {
        secret: text('Secret for the authenticator, in Base32; it is shown once.'),
        otpauth_url: text('The same as URL, to be shown as QR code.'),
      },
    }),
  },
  errors: refusals,
});

export interface ConfirmTotpBody {
  code: string;
}
export interface RecoveryCodes {
  recovery_codes: string[];
}

export const confirmTotp = endpoint({
  id: 'auth.confirmTotp',
  method: 'post',
  path: '/api/v1/auth/totp/confirm',
  summary: 'Confirm the second factor with a code',
  access: { roles: 'any' },
  audit: 'self',
  params: {},
  body: shape<ConfirmTotpBody>({ required: { code } }),
  violationCodes: { code: fault },
  answer: {
    status: 200,
    body: shape<RecoveryCodes>({
      required: { recovery_codes: strings('Codes that each replace one of the authenticator once; shown once.') },
    }),
  },
  errors: refusals,
});

export interface RemoveTotpBody {
  password?: string;
  code?: string;
}

export const removeTotp = endpoint({
  id: 'auth.removeTotp',
  method: 'delete',
  path: '/api/v1/auth/totp',
  summary: 'Remove the second factor',
  description: 'Needs the password or a code in the body.',
  access: { roles: 'any' },
  audit: 'self',
  params: {},
  body: shape<RemoveTotpBody>({
    required: {},
    optional: { password: enteredPassword.description('Password in use.'), code },
  }),
  violationCodes: { password: fault, code: fault },
  answer: { status: 204 },
  errors: refusals,
});

export const totpEndpoints = [beginTotp, confirmTotp, removeTotp] as const;
