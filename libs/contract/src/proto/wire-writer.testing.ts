/** A minimal protobuf encoder, independent of the generated code. */
export const varint = (value: number): number[] =>
  value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
export const int = (field: number, value: number) => [...varint(field * 8), ...varint(value)];
export const bytes = (field: number, value: readonly number[]) => [
  ...varint(field * 8 + 2),
  ...varint(value.length),
  ...value,
];
export const text = (field: number, value: string) => bytes(field, [...Buffer.from(value)]);
export const entry = (field: number, key: string, value: string) => bytes(field, [...text(1, key), ...text(2, value)]);
export const float = (field: number, value: number) => {
  const buffer = Buffer.alloc(4);
  buffer.writeFloatLE(value);
  return [...varint(field * 8 + 5), ...buffer];
};
export const double = (field: number, value: number) => {
  const buffer = Buffer.alloc(8);
  buffer.writeDoubleLE(value);
  return [...varint(field * 8 + 1), ...buffer];
};
export const hex = (parts: readonly number[]) => Buffer.from(parts).toString('hex');
