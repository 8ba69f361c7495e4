const KIB = 1024;
const MIB = 1024 * KIB;

/** Largest object of an ObjectStore; a larger one is refused (`storage`). */
export const OBJECT_BYTES_MAX = 64 * MIB;

/** Longest name of an object; a longer one is refused (`storage`). */
export const OBJECT_NAME_LENGTH_MAX = 512;

/** A segment of a snapshot is closed when its rows take so many bytes before they are compressed. */
export const SEGMENT_BYTES = 8 * MIB;

/** A segment that claims to unpack to more is damaged. */
export const SEGMENT_BYTES_MAX = 48 * MIB;

/** Bytes of rows that a restore hands to its target at once. */
export const RESTORE_SLICE_BYTES = MIB;

/** Rows that a restore hands to its target at once; about 2 ms of the main thread. */
export const RESTORE_SLICE_ROWS = 2_000;

/** Snapshots of a partition that are kept. The log is trimmed below the older of the two newest. */
export const SNAPSHOTS_KEPT = 2;

/** How long reading a partition may take; longer, and the snapshot has failed. The store keeps what is replaced meanwhile. */
export const SNAPSHOT_MS_MAX = 600_000;

/** How long records are kept for a standby that lives and is behind, once snapshots hold them. */
export const STANDBY_GRACE_MS = 3_600_000;

/** How often the keeper looks which partitions are due. */
export const KEEPER_ROUND_MS = 10_000;

/** After an automatic snapshot the worker rests so many times as long as it took. */
export const KEEPER_REST_FACTOR = 3;

/** Bytes that a partition writes after a snapshot until the next is due, whatever is configured. */
export const SNAPSHOT_WRITTEN_BYTES = 1_024 * MIB;

/** First wait after a snapshot or a trim that failed; it doubles with each further one. */
export const KEEPER_RETRY_MS = 10_000;

/** Longest such wait. */
export const KEEPER_RETRY_MS_MAX = 300_000;
