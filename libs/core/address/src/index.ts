export { classifyAddress, type AddressClass } from './classify-address';
export { isInNetworks, parseNetwork, type Network } from './networks';
export { ipv6Prefix64, normalizeAddress } from './parse-address';
