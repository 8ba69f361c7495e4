/** What faults are done to: processes, and the ways to them. */

export type MemberRole = 'engine' | 'worker' | 'admin' | 'ingress' | 'nats';

/** One process. */
export interface Member {
  readonly name: string;
  readonly role: MemberRole;
  /** Undefined while it is down. */
  readonly pid: number | undefined;
  readonly isRunning: boolean;
  /** kill -9; resolves when it is gone. */
  kill(): Promise<void>;
  /** SIGTERM; resolves when it is gone. */
  stop(): Promise<void>;
  /** After it went down: again, on its old data. Resolves when it takes work. */
  start(): Promise<void>;
  freeze(): void;
  thaw(): void;
  /** Cuts it off from the other processes, but not from its callers and the services; undefined: it has no such ways. */
  readonly cut: (() => void) | undefined;
  mend(): void;
  /** Moves its clock, ms; 0 puts it right again. The monotonic clock stays. Undefined: its clock can't be moved. */
  readonly moveClock: ((ms: number) => void) | undefined;
  /** Its disk takes nothing more, until `freeDisk`. Undefined: can't be done here. */
  readonly fillDisk: (() => void) | undefined;
  freeDisk(): void;
}

export interface System extends AsyncDisposable {
  readonly kind: 'embedded' | 'cluster';
  readonly ingressUrls: readonly string[];
  /** One that answers. */
  readonly adminUrl: string;
  readonly partitionCount: number;
  readonly members: readonly Member[];
  /** Name of the member that leads each partition; fewer than all while some have no leader. */
  leaders(): Promise<ReadonlyMap<number, string>>;
  /** Everything that the next fault relies on is there again: leaders, standbys that have the data, replicas. */
  isWhole(): Promise<boolean>;
  register(uri: string): Promise<void>;
  /** The server that leads the log of a partition; undefined where there is no such server. */
  readonly logLeader?: (partition: number) => Promise<string | undefined>;
  /** Where workers can come and go. */
  readonly addWorker?: () => Promise<string>;
  readonly removeWorker?: (name: string) => Promise<void>;
  /** The disk of all logs takes nothing more. */
  readonly fillLogDisk?: (() => void) | undefined;
  readonly freeLogDisk?: () => void;
  /** Writes what the members said, a file each. */
  saveLogs(directory: string): void;
}
