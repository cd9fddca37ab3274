export const PRODUCT_VERSION = '0.1.0'
/** Grows when an endpoint changes in a way an older window or command cannot read; both sides compare it at the handshake. */
export const CONTRACT_VERSION = 1
