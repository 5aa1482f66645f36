export { openApiKeys, type ApiKeys, type ApiKeySettings } from './api-keys';
export {
  authenticator,
  bareKey,
  findSessionTokens,
  sessionCookies,
  sessionCookieName,
  type Authenticate,
  type AuthenticateDeps,
  type AuthenticateSettings,
  type AuthOutcome,
  type Presented,
} from './authenticate';
export { findCredentialKind, type CredentialKind } from './credential-kind';
export { CredentialChanges, type CredentialRef } from './credential-changes';
export { openDataTokens, type DataGrant, type DataTokens } from './data-token';
export { dataTokensFrom } from './data-token-key';
export { sameDigest, sha256 } from './digest';
export { grantSignerFrom, type GrantFacts, type GrantSigner } from './grant-signing-key';
export { isTenantName, type Identity, type KeySource } from './identity';
export { openJwks, type JwksSettings } from './jwks';
export { openJwt, type BearerCheck, type JwtSettings } from './jwt';
export { packetSignerFrom, sessionTokensFrom } from './packet-signing-key';
export { resultTicketsFrom } from './result-ticket-keys';
export type { ResultTickets, TicketBearer } from './result-ticket';
export { blankTicket } from './result-ticket';
export { secretProblem, type SecretKind } from './secret-strength';
export {
  getSessionId,
  openSessions,
  type CreatedSession,
  type ListedSession,
  type NewSession,
  type SessionOwner,
  type Sessions,
} from './sessions';
export { clearedSessionCookie, sessionCookie } from './session-cookie';
export { SignInLimits, signInTries } from './sign-in-limits';
export { openPasswords, type Passwords } from './passwords';
export { passwordProblem } from './password-rule';
export { openSealedTexts, type SealedTexts } from './sealed-text';
export { sealedTextsFrom } from './user-secret-keys';
export { findTotpStep, hashRecoveryCode, newRecoveryCodes, newTotpSecret, toTotpUrl } from './totp';
export { getProtocolKey, webSocketProtocol } from './web-socket-key';
export { mergeEntitlements, tiers, velocityRulesInForce, type Entitlements, type Plan } from './license/entitlements';
export {
  openLicense,
  type License,
  type LicenseSettings,
  type LicenseState,
  type LicenseStatus,
} from './license/license';
export type { LicensePayload } from './license/license-file';
export { getScopedRole, hasResourceScope, missingScope } from './key-scope';
export { joinIdentities, sharesIdentity } from './identities';
export { isSessionToken, openSessionTokens, type SessionClaims, type SessionTokens } from './worker-session-token';
export { writerName } from './writer-name';
export {
  hashForNats,
  hashWorkerToken,
  isWorkerToken,
  newWorkerToken,
  toPublicKeyPem,
  verifyWorkerToken,
} from './worker-token';
