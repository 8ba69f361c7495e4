/** What the nodes of a cluster ask each other, from another process. */

import { EngineError, type PartitionId, type PartitionReport } from '@engine/domain';
import {
  appliedFromWire,
  reportsFromWire,
  type AppliedPosition,
  type NodeControl,
  type SchemaFollower,
} from '@engine/wire';

import { NODE_CALL_MS_MAX, STOP_LEADING_MS_MAX } from '../limits.js';
import { APPLIED, REACH_SCHEMA, REPORTS, STOP_LEADING } from '../methods.js';
import { UnaryCaller, type UnaryDependencies } from './unary-caller.js';

/** Errors of every method: EngineError, `unavailable` when no answer comes in time, `incompatible` when it cannot be read. */
export class RemoteNode implements NodeControl, SchemaFollower {
  readonly #caller: UnaryCaller;

  constructor(address: string, dependencies: UnaryDependencies) {
    this.#caller = new UnaryCaller(address, dependencies);
  }

  async reports(): Promise<ReadonlyMap<PartitionId, PartitionReport>> {
    const response = await this.#caller.ask(REPORTS, {}, NODE_CALL_MS_MAX);
    try {
      return reportsFromWire(response);
    } catch (cause) {
      throw new EngineError('incompatible', 'the reports of a newer node cannot be read', {
        cause,
      });
    }
  }

  /** Rejected as `unavailable` after STOP_LEADING_MS_MAX; asking again does no harm. */
  async stopLeading(partition: PartitionId, epoch: bigint): Promise<void> {
    await this.#caller.ask(STOP_LEADING, { partition, epoch }, STOP_LEADING_MS_MAX);
  }

  async applied(partition: PartitionId): Promise<AppliedPosition | undefined> {
    return appliedFromWire(await this.#caller.ask(APPLIED, { partition }, NODE_CALL_MS_MAX));
  }

  async reachSchema(version: bigint): Promise<void> {
    await this.#caller.ask(REACH_SCHEMA, { version }, NODE_CALL_MS_MAX);
  }

  /** Open calls, and all later ones, are rejected as `unavailable`. */
  stop(): void {
    this.#caller.stop();
  }
}
