/** Kinds of faults in a SCIM request (`scimType` of the response). */
export type ScimFaultType =
  'invalidFilter' | 'invalidPath' | 'invalidSyntax' | 'invalidValue' | 'mutability' | 'noTarget';

/** A request that the protocol does not permit. The message is for the client and quotes no stored value. */
export class ScimFault extends Error {
  constructor(
    readonly scimType: ScimFaultType,
    message: string,
  ) {
    super(message);
  }
}
