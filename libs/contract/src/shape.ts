import Joi from 'joi';

type OptionalKeys<T> = { [K in keyof T]-?: object extends Pick<T, K> ? K : never }[keyof T];
type Fields<T> = { [K in keyof T]-?: Joi.Schema<T[K]> };
type Shape<T> = { required: Fields<Omit<T, OptionalKeys<T>>> } & ([OptionalKeys<T>] extends [never]
  ? { optional?: undefined }
  : { optional: Fields<Pick<T, OptionalKeys<T>>> });

/**
 * An object schema that cannot disagree with its interface: `required` lists the fields that are always present after
 * validation (a field with a default belongs here too), `optional` those with a question mark. Unknown fields are
 * refused, as everywhere in this product, unless the caller adds `.unknown()`.
 */
export function shape<T extends object>({ required, optional }: Shape<T>): Joi.ObjectSchema<T> {
  const hasDefault = (schema: Joi.Schema) => 'default' in ((schema.describe() as { flags?: object }).flags ?? {});
  const always = Object.entries(required as Record<string, Joi.Schema>).map(([key, schema]) => [
    key,
    hasDefault(schema) ? schema : schema.required(),
  ]);
  return Joi.object({ ...Object.fromEntries(always), ...optional });
}
