import type { ResourceSchema } from './attributes';

export const groupSchemaId = 'urn:ietf:params:scim:schemas:core:2.0:Group';

export const groupSchema: ResourceSchema = {
  id: groupSchemaId,
  name: 'Group',
  description: 'A group of users. Members of a group that is named like a role have this role.',
  attributes: [
    {
      name: 'displayName',
      type: 'string',
      description: 'Name of the group, unique ignoring case.',
      required: true,
      uniqueness: 'server',
      maxLength: 256,
    },
    {
      name: 'members',
      type: 'complex',
      description: 'The users of the group.',
      multiValued: true,
      subAttributes: [
        {
          name: 'value',
          type: 'string',
          description: 'Id of the user.',
          required: true,
          mutability: 'immutable',
          maxLength: 64,
        },
        {
          name: '$ref',
          type: 'reference',
          description: 'URL of the user.',
          mutability: 'immutable',
          referenceTypes: ['User'],
        },
      ],
    },
  ],
};
