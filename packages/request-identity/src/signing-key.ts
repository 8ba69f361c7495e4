import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';

import { encodeBase58 } from './base58.js';

export interface SigningKey {
  readonly privateKey: KeyObject;
  /** What deployments are configured with: `publickeyv1_` and the raw public key in base 58. */
  readonly publicKey: string;
}

/**
 * Reads a PEM text with exactly one Ed25519 private key in PKCS#8 form.
 *
 * Throws Error whose message says, for people, what is wrong with the text; it never holds any of it.
 */
export function readSigningKey(pem: string): SigningKey {
  const blocks = [...pem.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----/g)].map(([, label]) => label);
  const [label] = blocks;
  if (blocks.length !== 1 || label !== 'PRIVATE KEY') {
    const found = blocks.length === 0 ? 'no PEM block' : `PEM blocks ${blocks.join(', ')}`;
    throw new Error(`has to hold exactly one PRIVATE KEY block (PKCS#8), and holds ${found}`);
  }
  const privateKey = parseKey(pem);
  if (privateKey.asymmetricKeyType !== 'ed25519') {
    const kind = privateKey.asymmetricKeyType ?? 'another kind';
    throw new Error(`has to hold an Ed25519 key, and holds one of ${kind}`);
  }
  return { privateKey, publicKey: `publickeyv1_${encodeBase58(rawPublicKey(privateKey))}` };
}

function parseKey(pem: string): KeyObject {
  try {
    return createPrivateKey({ key: pem, format: 'pem' });
  } catch (error) {
    throw new Error('holds a PRIVATE KEY block that cannot be read', { cause: error });
  }
}

function rawPublicKey(privateKey: KeyObject): Uint8Array {
  const { x } = createPublicKey(privateKey).export({ format: 'jwk' });
  return Buffer.from(x ?? '', 'base64url');
}
