/**
 * Awakeable ids: `sign_1` + base64url of the invocation id (24 bytes) and a signal index (32-bit, big-endian).
 * Made by SDKs and parsed here. The older `prom_1` form has the same layout with the index of a journal entry.
 */
import { decodeBase64Url, encodeBase64Url } from './base64url.js';
import { badId, idShapeFault, type ParsedId } from './id-text.js';
import {
  INVOCATION_ID_BYTES,
  invocationIdFromBytes,
  invocationIdToBytes,
  type InvocationId,
} from './invocation-id.js';

const ID_BYTES = INVOCATION_ID_BYTES + 4;
const BODY_LENGTH = 38;

export interface AwakeableTarget {
  readonly invocationId: InvocationId;
  readonly signalIndex: number;
}

/** Encodes the id that an SDK would make for this signal. */
export function formatAwakeableId(target: AwakeableTarget): string {
  const bytes = new Uint8Array(ID_BYTES);
  invocationIdToBytes(target.invocationId, bytes);
  new DataView(bytes.buffer).setUint32(INVOCATION_ID_BYTES, target.signalIndex);
  return `sign_1${encodeBase64Url(bytes)}`;
}

/**
 * Parses either form. A text that is no `sign_1…` is judged as a `prom_1…`, so a broken `sign_1…` is reported as
 * being of the wrong type.
 */
export function parseAwakeableId(text: string): ParsedId<AwakeableTarget> {
  const trimmed = text.replace(/={1,2}$/, '');
  if (idShapeFault(trimmed, 'sign', BODY_LENGTH) === undefined) {
    const target = decodeTarget(trimmed.slice('sign_1'.length));
    if (target !== undefined) return { kind: 'ok', id: target };
  }
  const fault = idShapeFault(trimmed, 'prom', BODY_LENGTH);
  if (fault !== undefined) return badId(fault);
  const target = decodeTarget(trimmed.slice('prom_1'.length));
  return target === undefined ? badId('bad format') : { kind: 'ok', id: target };
}

function decodeTarget(body: string): AwakeableTarget | undefined {
  const bytes = decodeBase64Url(body);
  if (bytes?.length !== ID_BYTES) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return {
    invocationId: invocationIdFromBytes(bytes),
    signalIndex: view.getUint32(INVOCATION_ID_BYTES),
  };
}
