import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';

import { describe, expect, it } from '@jest/globals';
import { fromHex } from '@engine/stdx';

import { encodeBase58 } from './base58.js';
import { RequestSigner } from './request-signer.js';
import { readSigningKey } from './signing-key.js';

const pair = generateKeyPairSync('ed25519');
const PEM = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

class HandClock {
  time = 1_700_000_000_400;
  now = (): number => this.time;
  monotonic = (): number => this.time;
}

function decode(part: string | undefined): Record<string, unknown> {
  return JSON.parse(Buffer.from(part ?? '', 'base64url').toString()) as Record<string, unknown>;
}

function claimsOf(token: string): Record<string, unknown> {
  return decode(token.split('.')[1]);
}

describe('a public key', () => {
  it('is written as deployments read it', () => {
    const raw = fromHex('b4a55c0cb8fca38d2b398cf0dc693bc90dd5868ad73fe979c5d1e988ee2cfdca');
    expect(`publickeyv1_${encodeBase58(raw)}`).toBe(
      'publickeyv1_DAAdZo4mQjY8GoScAcPxcsstgQGHK3yE6fMcMMfGbTr9',
    );
  });

  it('keeps leading zeros', () => {
    expect(encodeBase58(Uint8Array.of(0, 0, 57))).toBe('11z');
    expect(encodeBase58(Uint8Array.of(0, 0))).toBe('11');
    expect(encodeBase58(new Uint8Array())).toBe('');
  });

  it('is the one of the private key', () => {
    const { x } = createPublicKey(pair.privateKey).export({ format: 'jwk' });
    const expected = `publickeyv1_${encodeBase58(Buffer.from(x ?? '', 'base64url'))}`;
    expect(readSigningKey(PEM).publicKey).toBe(expected);
  });
});

describe('a key file', () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey;
  it.each([
    ['nothing', '', 'no PEM block'],
    ['two keys', PEM + PEM, 'PEM blocks PRIVATE KEY, PRIVATE KEY'],
    ['a public key', pair.publicKey.export({ type: 'spki', format: 'pem' }).toString(), 'PUBLIC'],
    ['a key of another kind', rsa.export({ type: 'pkcs8', format: 'pem' }).toString(), 'rsa'],
    ['another form', rsa.export({ type: 'pkcs1', format: 'pem' }).toString(), 'RSA PRIVATE KEY'],
    [
      'a broken block',
      '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n',
      'cannot be read',
    ],
  ])('with %s is refused', (_name, pem, reason) => {
    expect(() => readSigningKey(pem)).toThrow(reason);
  });
});

describe('a signature', () => {
  const clock = new HandClock();
  const signer = new RequestSigner({ key: readSigningKey(PEM), expirationMs: 60_000 }, clock);

  it('names path, key and times, and verifies', () => {
    const headers = signer.sign('/invoke/Cart/add', 'a key/ü');
    expect(headers['x-restate-signature-scheme']).toBe('v1');
    const [head, claims, signature] = headers['x-restate-jwt-v1'].split('.');
    expect(decode(head)).toEqual({ typ: 'JWT', alg: 'EdDSA', kid: signer.publicKey });
    expect(decode(claims)).toEqual({
      aud: '/invoke/Cart/add',
      exp: 1_700_000_061,
      iat: 1_700_000_000,
      nbf: 1_699_999_940,
      sub: 'a key/ü',
    });
    const signed = Buffer.from(`${head}.${claims}`);
    expect(verify(null, signed, pair.publicKey, Buffer.from(signature ?? '', 'base64url'))).toBe(
      true,
    );
  });

  it('has no subject without a key', () => {
    const token = signer.sign('/discover', undefined)['x-restate-jwt-v1'];
    expect(claimsOf(token)).not.toHaveProperty('sub');
  });

  it('is used again for a quarter of its life', () => {
    const first = signer.sign('/invoke/A/b', undefined);
    clock.time += 14_999;
    expect(signer.sign('/invoke/A/b', undefined)).toBe(first);
    expect(signer.sign('/invoke/A/b', '')).not.toEqual(first);
    clock.time += 1;
    expect(signer.sign('/invoke/A/b', undefined)).not.toBe(first);
  });

  it('is not used again when the clock went back', () => {
    const first = signer.sign('/invoke/A/c', undefined);
    clock.time -= 1;
    expect(signer.sign('/invoke/A/c', undefined)).not.toBe(first);
  });

  it('is not kept for keys that are very long', () => {
    const key = 'k'.repeat(2_000);
    const first = signer.sign('/invoke/A/d', key);
    expect(signer.sign('/invoke/A/d', key)).not.toBe(first);
    expect(signer.sign('/invoke/A/d', key)).toEqual(first);
  });

  it('lives for at least a second', () => {
    const hasty = new RequestSigner({ key: readSigningKey(PEM), expirationMs: 5 }, clock);
    const { iat, exp } = claimsOf(hasty.sign('/discover', undefined)['x-restate-jwt-v1']);
    expect(Number(exp) - Number(iat)).toBeGreaterThanOrEqual(1);
  });
});
