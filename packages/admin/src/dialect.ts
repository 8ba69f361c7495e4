/**
 * The versions of the admin API. Paths without a version follow the interface; `/v2` to `/v4` follow what existing clients
 * know under these names.
 */
export interface Dialect {
  /** Of `POST /deployments`. */
  readonly forceIsDefault: boolean;
  /** What registering a known destination without force gives: META0004, a conflict without a code, or the known deployment. */
  readonly duplicate: 'META0004' | 'conflict' | 'known';
  /** Status of a forced registration over a known deployment. */
  readonly overwriteStatus: 200 | 201;
  /** When several deployments share the forced destination: META0017, or the newest one is meant. */
  readonly ambiguousForce: 'META0017' | 'newest';
  /** Whether `PUT /deployments/{id}` exists; it is the same as PATCH. */
  readonly servesPutDeployment: boolean;
  /** What an update in place has to have in common: services and handlers too (interface §9.4), or the protocol versions alone. */
  readonly updateKeeps: 'services' | 'versions';
  /** Whether `DELETE /deployments/{id}` works without force while nothing runs there. */
  readonly removesWithoutForce: boolean;
  /** Words for durations and payload rules: as the interface shows them, or short. */
  readonly wording: 'interface' | 'short';
}

export const INTERFACE: Dialect = {
  forceIsDefault: false,
  duplicate: 'META0004',
  overwriteStatus: 200,
  ambiguousForce: 'META0017',
  servesPutDeployment: true,
  updateKeeps: 'services',
  removesWithoutForce: true,
  wording: 'interface',
};

const V3: Dialect = {
  forceIsDefault: false,
  duplicate: 'known',
  overwriteStatus: 200,
  ambiguousForce: 'newest',
  servesPutDeployment: false,
  updateKeeps: 'versions',
  removesWithoutForce: false,
  wording: 'short',
};

const V2: Dialect = {
  ...V3,
  forceIsDefault: true,
  duplicate: 'conflict',
  overwriteStatus: 201,
  servesPutDeployment: true,
};

/** The versions served beside the paths without one. */
export const VERSIONS: readonly { readonly version: number; readonly dialect: Dialect }[] = [
  { version: 2, dialect: V2 },
  { version: 3, dialect: V3 },
  { version: 4, dialect: V3 },
];
export const API_VERSION_MIN = 2;
export const API_VERSION_MAX = 4;
