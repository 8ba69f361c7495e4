/**
 * Signs requests to deployments: a JSON Web Token for each path, which SDKs check against the public keys that they are
 * configured with. One signature costs about 25 µs on the thread of the caller, so tokens are used again for a part of their
 * life; handlers without keys then cost one signature each few seconds, however often they are called.
 */

import { sign, type KeyObject } from 'node:crypto';

import type { Clock } from '@engine/runtime';

import type { SigningKey } from './signing-key.js';

/** Times in a token are whole seconds: less would be over as soon as it is sent. */
export const EXPIRATION_MS_MIN = 1_000;

/** Tokens kept to be used again, about 500 bytes each; when there are more, all are made anew. */
const TOKENS_MAX = 4_096;
/** Requests with longer keys, in UTF-16 units, get a token of their own. */
const TOKEN_KEY_LENGTH_MAX = 1_024;
/** A token goes out for this part of its life; the rest is for clocks that differ and for slow networks. */
const REUSE_SHARE = 1 / 4;

export interface RequestSignerOptions {
  readonly key: SigningKey;
  /** How long before and after its making a token is good. At least EXPIRATION_MS_MIN. */
  readonly expirationMs: number;
}

export interface SignatureHeaders {
  readonly 'x-restate-signature-scheme': 'v1';
  readonly 'x-restate-jwt-v1': string;
}

interface Issued {
  readonly headers: SignatureHeaders;
  /** Ms since the epoch. */
  readonly at: number;
}

export class RequestSigner {
  /** What deployments are configured with. */
  readonly publicKey: string;
  readonly #privateKey: KeyObject;
  readonly #expirationMs: number;
  readonly #clock: Clock;
  /** First part of every token. */
  readonly #head: string;
  readonly #issued = new Map<string, Issued>();

  constructor({ key, expirationMs }: RequestSignerOptions, clock: Clock) {
    this.publicKey = key.publicKey;
    this.#privateKey = key.privateKey;
    this.#expirationMs = Math.max(expirationMs, EXPIRATION_MS_MIN);
    this.#clock = clock;
    this.#head = base64url({ typ: 'JWT', alg: 'EdDSA', kid: key.publicKey });
  }

  /**
   * The headers of one request.
   *
   * @param path as the SDK sees it behind the deployment's own prefix, without a query: `/discover`, `/invoke/Greeter/greet`
   * @param serviceKey key of the object or workflow, as people wrote it
   */
  sign(path: string, serviceKey: string | undefined): SignatureHeaders {
    const now = this.#clock.now();
    if (serviceKey !== undefined && serviceKey.length > TOKEN_KEY_LENGTH_MAX) {
      return this.#issue(path, serviceKey, now);
    }
    // No path holds a line break.
    const subject = serviceKey === undefined ? path : `${path}\n${serviceKey}`;
    const known = this.#issued.get(subject);
    if (known !== undefined && this.#isFresh(known, now)) return known.headers;
    const headers = this.#issue(path, serviceKey, now);
    if (this.#issued.size >= TOKENS_MAX) this.#issued.clear();
    this.#issued.set(subject, { headers, at: now });
    return headers;
  }

  #isFresh({ at }: Issued, now: number): boolean {
    return now >= at && now - at < this.#expirationMs * REUSE_SHARE;
  }

  #issue(path: string, serviceKey: string | undefined, now: number): SignatureHeaders {
    const claims = base64url({
      aud: path,
      // Rounded up, so that the life is never shorter than it was asked for.
      exp: Math.ceil((now + this.#expirationMs) / 1_000),
      iat: Math.floor(now / 1_000),
      nbf: Math.floor((now - this.#expirationMs) / 1_000),
      ...(serviceKey === undefined ? {} : { sub: serviceKey }),
    });
    const signed = `${this.#head}.${claims}`;
    const signature = sign(null, Buffer.from(signed), this.#privateKey).toString('base64url');
    return { 'x-restate-signature-scheme': 'v1', 'x-restate-jwt-v1': `${signed}.${signature}` };
  }
}

function base64url(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
