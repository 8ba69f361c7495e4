/** Versions of the service protocol, the content types that name them, and the paths and accept list of a deployment. */

export const PROTOCOL_VERSION_MIN = 5;
export const PROTOCOL_VERSION_MAX = 7;
/** From here on: await trees, acknowledged run proposals, scopes, error behavior. */
export const PROTOCOL_VERSION_TREES = 7;

export interface VersionRange {
  readonly min: number;
  readonly max: number;
}

/** The content type that an invocation of this version has, in both directions. */
export function invocationContentType(version: number): string {
  return `application/vnd.restate.invocation.v${version.toString()}`;
}

/**
 * The version for a new invocation: the highest that both sides speak, or undefined (RT0013).
 *
 * `ceiling` lowers the server's side, at most PROTOCOL_VERSION_MAX.
 */
export function negotiateVersion(
  range: VersionRange,
  ceiling: number = PROTOCOL_VERSION_MAX,
): number | undefined {
  const version = Math.min(range.max, ceiling);
  return version >= range.min && version >= PROTOCOL_VERSION_MIN ? version : undefined;
}

/** True when the server and a deployment share any version. */
export function overlaps(range: VersionRange): boolean {
  return range.min <= PROTOCOL_VERSION_MAX && range.max >= PROTOCOL_VERSION_MIN;
}

/** True when an invocation that is pinned to `version` can go on at a deployment with this range. */
export function canResume(version: number, range: VersionRange): boolean {
  return version >= range.min && version <= range.max;
}

/** True when the server itself still speaks `version` (RT0014 if not). */
export function isSupportedVersion(version: number): boolean {
  return version >= PROTOCOL_VERSION_MIN && version <= PROTOCOL_VERSION_MAX;
}
