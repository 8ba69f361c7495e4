/**
 * From an endpoint's answer to discovery to what registration stores. Judges the answer alone: whether the services fit those that are
 * already registered (META0006, META0016) is the registry's business, whether the endpoint could be reached (META0003, META0014) the
 * client's.
 */
import type { ProtocolMode } from '@engine/domain';
import { decodeUtf8Strict } from '@engine/stdx';
import { overlaps, PROTOCOL_VERSION_MAX, PROTOCOL_VERSION_MIN } from '../versions.js';
import { MANIFEST_CONTENT_TYPES, parseManifest, type Manifest } from './manifest.js';
import { badAnswer, RuleBroken, type DiscoveryRefusal } from './refusal.js';
import { readServices, type DiscoveredService } from './services.js';

export interface DiscoveryAnswer {
  /** The header as it came; parameters are not tolerated. */
  readonly contentType: string | undefined;
  readonly body: Uint8Array;
  /** The `x-restate-server` header. */
  readonly sdkVersion: string | undefined;
  /** False for transports that answer only after the whole request, such as Lambda. */
  readonly canStreamBothWays: boolean;
}

export interface Discovery {
  readonly kind: 'discovered';
  readonly protocolMode: ProtocolMode;
  readonly minProtocolVersion: number;
  readonly maxProtocolVersion: number;
  readonly sdkVersion: string | undefined;
  /** What a function can unpack; means nothing elsewhere. */
  readonly functionCompression: 'zstd' | undefined;
  readonly services: readonly DiscoveredService[];
}

/** Largest version number that a manifest may name. */
const VERSION_NUMBER_MAX = 2_147_483_647;

/** SDKs of these lines claim versions that they do not speak. */
const OVERSTATING_SDKS = /^restate-sdk-typescript\/1\.[012]\./;

/** Judges an answer with a 2xx status. Never throws. */
export function readDiscovery(answer: DiscoveryAnswer): Discovery | DiscoveryRefusal {
  const { contentType } = answer;
  if (contentType === undefined || !MANIFEST_CONTENT_TYPES.includes(contentType)) {
    const shown = contentType === undefined ? 'no content type' : `content type '${contentType}'`;
    return badAnswer('META0013', `the endpoint answered discovery with ${shown}`);
  }
  const json = parseJson(answer.body);
  if (json.kind === 'bad') return badAnswer(undefined, `the manifest is no JSON: ${json.reason}`);
  const parsed = parseManifest(json.value);
  if (parsed.kind === 'bad') {
    return badAnswer(undefined, `the manifest cannot be read: ${parsed.reason}`);
  }
  return judge(parsed.manifest, answer);
}

function judge(manifest: Manifest, answer: DiscoveryAnswer): Discovery | DiscoveryRefusal {
  const { protocolMode, minProtocolVersion: min, maxProtocolVersion: stated } = manifest;
  if (protocolMode === undefined || protocolMode === null) {
    return badAnswer('META0013', 'the manifest names no protocol mode');
  }
  if (min > stated || min > VERSION_NUMBER_MAX || stated > VERSION_NUMBER_MAX) {
    return badAnswer('META0013', `bad protocol versions ${rangeText(min, stated)}`);
  }
  const max = OVERSTATING_SDKS.test(answer.sdkVersion ?? '') ? 1 : stated;
  if (!overlaps({ min, max })) {
    const own = rangeText(PROTOCOL_VERSION_MIN, PROTOCOL_VERSION_MAX);
    const theirs = rangeText(min, max);
    return badAnswer('META0012', `the endpoint speaks versions ${theirs}, the server ${own}`);
  }
  if (protocolMode === 'BIDI_STREAM' && !answer.canStreamBothWays) {
    return badAnswer('META0015', 'the transport cannot stream both ways at once');
  }
  try {
    return {
      kind: 'discovered',
      protocolMode: protocolMode === 'BIDI_STREAM' ? 'bidi-stream' : 'request-response',
      minProtocolVersion: min,
      maxProtocolVersion: max,
      sdkVersion: answer.sdkVersion,
      functionCompression: manifest.lambdaCompression ?? undefined,
      services: readServices(manifest.services),
    };
  } catch (error) {
    if (!(error instanceof RuleBroken)) throw error;
    return { kind: 'refused', httpStatus: 400, code: error.code, message: error.message };
  }
}

type ParsedJson =
  | { readonly kind: 'ok'; readonly value: unknown }
  | { readonly kind: 'bad'; readonly reason: string };

function parseJson(body: Uint8Array): ParsedJson {
  try {
    const value: unknown = JSON.parse(decodeUtf8Strict(body));
    return { kind: 'ok', value };
  } catch (error) {
    return { kind: 'bad', reason: error instanceof Error ? error.message : 'not JSON' };
  }
}

function rangeText(min: number, max: number): string {
  return `${min.toString()} to ${max.toString()}`;
}
