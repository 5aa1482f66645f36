import type { Attribute, ResourceSchema } from '@svc/scim-protocol';

/** Schemas of the descriptions themselves. All of their attributes are read-only. */

type Type = Attribute['type'];
type More = Partial<Omit<Attribute, 'name' | 'type' | 'description'>>;

const attribute = (name: string, type: Type, description: string, more: More = {}): Attribute => {
  return { name, type, description, mutability: 'readOnly', ...more };
};
const required = (name: string, type: Type, description: string, more: More = {}): Attribute =>
  attribute(name, type, description, { required: true, ...more });
const complex = (name: string, description: string, subAttributes: readonly Attribute[], more: More = {}): Attribute =>
  required(name, 'complex', description, { subAttributes, ...more });

const supported = required('supported', 'boolean', 'Whether this part of the protocol is supported.');
const attributeTypes = ['string', 'complex', 'boolean', 'decimal', 'integer', 'dateTime', 'reference', 'binary'];

const attributeParts: readonly Attribute[] = [
  required('name', 'string', 'Name of the attribute.'),
  required('type', 'string', 'Type of its values.', { canonicalValues: attributeTypes }),
  required('multiValued', 'boolean', 'Whether it has a list of values.'),
  attribute('description', 'string', 'What it holds.'),
  attribute('required', 'boolean', 'Whether it is always present.'),
  attribute('canonicalValues', 'string', 'Values that are known.', { multiValued: true }),
  attribute('caseExact', 'boolean', 'Whether upper and lower case differ.'),
  attribute('mutability', 'string', 'Whether clients can change it.', {
    canonicalValues: ['readOnly', 'readWrite', 'immutable', 'writeOnly'],
  }),
  attribute('returned', 'string', 'When it is returned.', {
    canonicalValues: ['always', 'never', 'default', 'request'],
  }),
  attribute('uniqueness', 'string', 'Among which resources it is unique.', {
    canonicalValues: ['none', 'server', 'global'],
  }),
  attribute('referenceTypes', 'string', 'Types of resources that it refers to.', { multiValued: true }),
];

export const discoverySchemas: readonly ResourceSchema[] = [
  {
    id: 'urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig',
    name: 'ServiceProviderConfig',
    description: 'What the service supports of the protocol',
    attributes: [
      attribute('documentationUri', 'reference', 'Page that describes the service.', { referenceTypes: ['external'] }),
      complex('patch', 'PATCH requests.', [supported]),
      complex('bulk', 'Several changes in one request.', [
        supported,
        required('maxOperations', 'integer', 'Largest number of operations.'),
        required('maxPayloadSize', 'integer', 'Largest size of the request, in bytes.'),
      ]),
      complex('filter', 'Filters.', [supported, required('maxResults', 'integer', 'Largest size of a page.')]),
      complex('changePassword', 'Changes of passwords.', [supported]),
      complex('sort', 'Sorted lists.', [supported]),
      complex('etag', 'Entity tags.', [supported]),
      complex(
        'authenticationSchemes',
        'How clients authenticate.',
        [
          required('type', 'string', 'Kind of credential.', {
            canonicalValues: ['oauth', 'oauth2', 'oauthbearertoken', 'httpbasic', 'httpdigest'],
          }),
          required('name', 'string', 'Name of the scheme.'),
          required('description', 'string', 'What the scheme is.'),
          attribute('specUri', 'reference', 'Page that specifies the scheme.', { referenceTypes: ['external'] }),
          attribute('documentationUri', 'reference', 'Page about its use.', { referenceTypes: ['external'] }),
          attribute('primary', 'boolean', 'Whether this is the preferred scheme.'),
        ],
        { multiValued: true },
      ),
    ],
  },
  {
    id: 'urn:ietf:params:scim:schemas:core:2.0:ResourceType',
    name: 'ResourceType',
    description: 'A type of resources',
    attributes: [
      required('name', 'string', 'Name of the type.'),
      attribute('description', 'string', 'What these resources are.'),
      required('endpoint', 'reference', 'Path below which they are.', { referenceTypes: ['uri'] }),
      required('schema', 'reference', 'Id of their schema.', { referenceTypes: ['uri'] }),
      complex(
        'schemaExtensions',
        'Further schemas.',
        [
          required('schema', 'reference', 'Id of the schema.', { referenceTypes: ['uri'] }),
          required('required', 'boolean', 'Whether resources always have it.'),
        ],
        { multiValued: true },
      ),
    ],
  },
  {
    id: 'urn:ietf:params:scim:schemas:core:2.0:Schema',
    name: 'Schema',
    description: 'The attributes of a type of resources',
    attributes: [
      required('name', 'string', 'Name of the schema.'),
      attribute('description', 'string', 'What has this schema.'),
      complex(
        'attributes',
        'The attributes.',
        [
          ...attributeParts,
          attribute('subAttributes', 'complex', 'Parts of the attribute.', {
            multiValued: true,
            subAttributes: attributeParts,
          }),
        ],
        { multiValued: true },
      ),
    ],
  },
];
