// What exactly is proven? Role and both nonces: neither side can hand the other's proof back.

export const hostProofText = (clientNonce: string, hostNonce: string): string => `host|${clientNonce}|${hostNonce}`;
export const clientProofText = (clientNonce: string, hostNonce: string): string => `client|${clientNonce}|${hostNonce}`;
