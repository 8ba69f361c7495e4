export { encodeBase58 } from './base58.js';
export { readSigningKey, type SigningKey } from './signing-key.js';
export {
  EXPIRATION_MS_MIN,
  RequestSigner,
  type RequestSignerOptions,
  type SignatureHeaders,
} from './request-signer.js';
