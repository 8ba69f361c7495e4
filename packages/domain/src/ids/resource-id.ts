/** Ids of resources that are one ULID: deployments `dp_1…` and subscriptions `sub_1…`. */
import { BASE62_U128_DIGITS, readBase62, readLimb, writeBase62, writeLimb } from './base62.js';
import { badId, ID_VERSION, idShapeFault, type IdPrefix, type ParsedId } from './id-text.js';
import { ULID_BYTES } from './ulid.js';

declare const deploymentIdBrand: unique symbol;
export type DeploymentId = string & { readonly [deploymentIdBrand]: true };

declare const subscriptionIdBrand: unique symbol;
export type SubscriptionId = string & { readonly [subscriptionIdBrand]: true };

/** The id of a deployment with this ULID. */
export function deploymentIdFromUlid(ulid: Uint8Array): DeploymentId {
  return encodeUlid('dp', ulid) as DeploymentId;
}

/** Parses `dp_1…`. */
export function parseDeploymentId(text: string): ParsedId<DeploymentId> {
  return parseUlidId<DeploymentId>('dp', text);
}

/** The 16 bytes of the ULID in a deployment id. */
export function deploymentIdToUlid(id: DeploymentId): Uint8Array {
  return decodeUlid('dp', id);
}

/** The id of a subscription with this ULID. */
export function subscriptionIdFromUlid(ulid: Uint8Array): SubscriptionId {
  return encodeUlid('sub', ulid) as SubscriptionId;
}

/** Parses `sub_1…`. */
export function parseSubscriptionId(text: string): ParsedId<SubscriptionId> {
  return parseUlidId<SubscriptionId>('sub', text);
}

/** The 16 bytes of the ULID in a subscription id. */
export function subscriptionIdToUlid(id: SubscriptionId): Uint8Array {
  return decodeUlid('sub', id);
}

function encodeUlid(prefix: IdPrefix, ulid: Uint8Array): string {
  const limbs = [0, 4, 8, 12].map((offset) => readLimb(ulid, offset));
  const codes: number[] = [];
  writeBase62(limbs, codes, { start: 0, digits: BASE62_U128_DIGITS });
  return `${prefix}_${ID_VERSION}${String.fromCharCode(...codes)}`;
}

function parseUlidId<Id extends string>(prefix: IdPrefix, text: string): ParsedId<Id> {
  const fault = idShapeFault(text, prefix, BASE62_U128_DIGITS);
  if (fault !== undefined) return badId(fault);
  const fits = readBase62(text, bodySpan(prefix), [0, 0, 0, 0]);
  return fits ? { kind: 'ok', id: text as Id } : badId('base62 decode error');
}

function decodeUlid(prefix: IdPrefix, text: string): Uint8Array {
  const limbs = [0, 0, 0, 0];
  readBase62(text, bodySpan(prefix), limbs);
  const bytes = new Uint8Array(ULID_BYTES);
  limbs.forEach((limb, i) => {
    writeLimb(bytes, 4 * i, limb);
  });
  return bytes;
}

function bodySpan(prefix: IdPrefix): { start: number; digits: number } {
  return { start: prefix.length + 2, digits: BASE62_U128_DIGITS };
}
