import { type Attribute, findAttribute, findByName, type ResourceSchema } from './attributes';
import { ScimFault } from './fault';
import { type Filter, parseElementFilter } from './filter';

/** Target of a PATCH operation. */
export interface PatchPath {
  attribute: Attribute;
  /** Selects values of a multi-valued attribute. */
  filter?: Filter;
  sub?: Attribute;
}

const invalid = (message: string) => new ScimFault('invalidPath', message);

/**
 * Parses the path of a PATCH operation: `name.givenName`, `members[value eq "…"]`, `emails[type eq "work"].value`.
 *
 * @throws ScimFault invalidPath, invalidFilter
 */
export function parsePatchPath(schema: ResourceSchema, path: string): PatchPath {
  const opening = path.indexOf('[');
  if (opening < 0) {
    const found = findAttribute(schema, path.trim());
    if (!found) throw invalid('the path names an attribute that this resource does not have');
    return found;
  }
  const closing = path.lastIndexOf(']');
  const found = findAttribute(schema, path.slice(0, opening).trim());
  if (!found || found.sub || !found.attribute.multiValued || closing < opening) {
    throw invalid('only values of a multi-valued attribute are selected by a filter');
  }
  const { attribute } = found;
  const rest = path.slice(closing + 1).trim();
  const filter = asType(attribute, parseElementFilter(attribute, path.slice(opening + 1, closing)));
  if (rest === '') return { attribute, filter };
  const sub = rest.startsWith('.') ? findByName(attribute.subAttributes ?? [], rest.slice(1)) : undefined;
  if (!sub) throw invalid('the path names a part that this attribute does not have');
  return { attribute, filter, sub };
}

/** Some clients write `emails[value eq "work"]` and mean the type. */
function asType(attribute: Attribute, filter: Filter): Filter {
  const type = findByName(attribute.subAttributes ?? [], 'type');
  if (!type || filter.op !== 'eq' || filter.attribute.name !== 'value') return filter;
  return type.canonicalValues?.includes(String(filter.value)) ? { ...filter, attribute: type } : filter;
}
