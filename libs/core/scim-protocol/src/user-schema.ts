import type { ResourceSchema } from './attributes';

export const userSchemaId = 'urn:ietf:params:scim:schemas:core:2.0:User';

/** @param roles names of the roles that a user may get */
export const buildUserSchema = (roles: readonly string[]): ResourceSchema => ({
  id: userSchemaId,
  name: 'User',
  description: 'A person who uses the service',
  attributes: [
    {
      name: 'userName',
      type: 'string',
      description: 'Name of the user, unique ignoring case.',
      required: true,
      uniqueness: 'server',
      maxLength: 256,
    },
    { name: 'displayName', type: 'string', description: 'Name that is shown to people.', maxLength: 256 },
    {
      name: 'name',
      type: 'complex',
      description: 'Parts of the name of the person.',
      subAttributes: [
        { name: 'formatted', type: 'string', description: 'The whole name; derived when not set.', maxLength: 512 },
        { name: 'familyName', type: 'string', description: 'Family name.', maxLength: 256 },
        { name: 'givenName', type: 'string', description: 'Given name.', maxLength: 256 },
      ],
    },
    {
      name: 'emails',
      type: 'complex',
      description: 'The e-mail address, unique ignoring case. A user has one: the primary one, else the first.',
      multiValued: true,
      holdsOne: true,
      subAttributes: [
        { name: 'value', type: 'string', description: 'E-mail address.', maxLength: 254 },
        { name: 'type', type: 'string', description: 'Always work.', canonicalValues: ['work'] },
        { name: 'primary', type: 'boolean', description: 'Whether this is the preferred address.' },
      ],
    },
    {
      name: 'active',
      type: 'boolean',
      description: 'Whether the user can sign in. A change to false ends all sessions of the user.',
      required: true,
    },
    {
      name: 'roles',
      type: 'complex',
      description: 'The role. A user has one: the first. Groups that are named like a role determine it instead.',
      multiValued: true,
      holdsOne: true,
      required: true,
      subAttributes: [
        {
          name: 'value',
          type: 'string',
          description: 'Name of the role.',
          required: true,
          canonicalValues: roles,
          maxLength: 64,
        },
        { name: 'display', type: 'string', description: 'Name that is shown to people.', maxLength: 256 },
      ],
    },
  ],
});
