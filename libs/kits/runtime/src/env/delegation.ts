import { variables } from './declare';

/** The gateway, which issues and verifies delegation tokens of agents. */
export const delegationVariables = variables({
  delegationPrivateKey: {
    name: 'SVC_DELEGATION_PRIVATE_KEY',
    type: 'string',
    secret: true,
    doc: 'Ed25519 private key that signs delegation tokens of agents: PEM, or PKCS #8 or seed in base64 or hex. Equal on all gateways. Without it there are no delegation tokens.',
  },
  delegationKeyId: {
    name: 'SVC_DELEGATION_KEY_ID',
    type: 'string',
    default: 'dlg-1',
    doc: 'Id of that key in the header of tokens. Choose another one with each new key.',
  },
  delegationPublicKeys: {
    name: 'SVC_DELEGATION_PUBLIC_KEY_',
    type: 'family',
    doc: 'Earlier public keys, by key id (upper case, `_` for `-`): 32 bytes or SPKI in base64. Keep one for a day after its replacement, until all of its tokens have expired.',
  },
  delegationMaxDepth: {
    name: 'SVC_DELEGATION_MAX_DEPTH',
    type: 'int',
    min: 1,
    max: 256,
    default: '3',
    doc: 'Largest number of delegations in the chain of a token.',
  },
});
