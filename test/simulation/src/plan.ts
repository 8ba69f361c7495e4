/** A plan composes a workload and faults: plans/*.toml, ten lines each. Absent values are the ones below. */

import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { parse } from 'smol-toml';

import { STRIKES, type StrikeWeights } from './cluster/cluster-faults.js';
import { CALM_CLUSTER, type ClusterShape } from './cluster/cluster-plan.js';
import type { DeploymentFaults } from './deployment/exchange-fault.js';
import type { DiskFaults } from './simulator/disk.js';
import type { NetworkFaults } from './simulator/network.js';
import type { ClientFaults } from './workloads/client.js';
import { CALM_OPERATIONS } from './workloads/control-operations.js';
import { OPERATIONS, type OperationName } from './workloads/operations.js';

export interface ProcessFaults {
  /** Mean time between crashes, ms; 0 = none. */
  crashEveryMs: number;
  /** Share of the crashes that are orderly stops. */
  stopShare: number;
  /** Longest time until the next process starts, ms. */
  downMsMax: number;
  /** How far the clock of a process may be off, either way, ms. It is set anew now and then. */
  clockSkewMs: number;
}

export interface Faults {
  readonly process: ProcessFaults;
  readonly disk: DiskFaults;
  readonly network: NetworkFaults;
  readonly deployment: DeploymentFaults;
  readonly client: ClientFaults;
}

export interface Plan {
  readonly name: string;
  readonly partitions: number;
  /** Operations in all, and callers that share them. */
  readonly operations: number;
  readonly callers: number;
  /** Faults stop after this virtual time, ms. */
  readonly faultsUntilMs: number;
  /** After that everything must end within this virtual time, ms. */
  readonly progressMs: number;
  /** Attempts that run at once in a partition, and timers that are kept in memory. */
  readonly slots: number;
  readonly timersInMemory: number;
  /** Weights of the operations; without any, all but those that need a world where nothing runs twice. */
  readonly mix: Readonly<Partial<Record<OperationName, number>>>;
  readonly faults: Faults;
  /** Undefined: one process leads all partitions. */
  readonly cluster: ClusterShape | undefined;
  /** Weights of what strikes a cluster; without any, everything does. */
  readonly strikes: StrikeWeights;
}

const CALM: Faults = {
  process: { crashEveryMs: 0, stopShare: 0.1, downMsMax: 2_000, clockSkewMs: 0 },
  disk: { writeFailure: 0, syncMs: 1, syncMsMax: 60 },
  network: { loss: 0, repetition: 0, delayMs: 1, delayMsMax: 50 },
  deployment: {
    refused: 0,
    status: 0,
    contentType: 0,
    cut: 0,
    eof: 0,
    hang: 0,
    errorFrame: 0,
    garbage: 0,
    openEnd: 0,
    workMs: 1,
    delayMs: 0.5,
    delayMsMax: 30,
  },
  client: { answerLoss: 0, answerMs: 0.5, answerMsMax: 20, askAgainMs: 60_000 },
};

type Table = Readonly<Record<string, unknown>>;

const plansDir = (): string => join(dirname(import.meta.dirname), 'plans');

export function planNames(): readonly string[] {
  return readdirSync(plansDir())
    .filter((name) => name.endsWith('.toml'))
    .map((name) => name.slice(0, -'.toml'.length))
    .sort();
}

export function readPlan(name: string): Plan {
  const table = parse(readFileSync(join(plansDir(), `${name}.toml`), 'utf8'));
  const everything = Object.keys(OPERATIONS).map(
    (operation) => [operation, CALM_OPERATIONS.has(operation) ? 0 : 1] as const,
  );
  const mix = part(table, 'mix');
  return {
    name,
    partitions: number(table, 'partitions', 4),
    operations: number(table, 'operations', 40),
    callers: number(table, 'callers', 8),
    faultsUntilMs: number(table, 'faults-until-ms', 20_000),
    progressMs: number(table, 'progress-ms', 600_000),
    slots: number(table, 'slots', 1_000),
    timersInMemory: number(table, 'timers-in-memory', 1_000),
    mix: (Object.keys(mix).length === 0 ? Object.fromEntries(everything) : mix) as Plan['mix'],
    faults: {
      process: filled(CALM.process, part(table, 'process')),
      disk: filled(CALM.disk, part(table, 'disk')),
      network: filled(CALM.network, part(table, 'network')),
      deployment: filled(CALM.deployment, part(table, 'deployment')),
      client: filled(CALM.client, part(table, 'client')),
    },
    cluster: 'cluster' in table ? filled(CALM_CLUSTER, part(table, 'cluster')) : undefined,
    strikes: strikesOf(part(table, 'strikes')),
  };
}

/** A copy that may be changed while a run goes on. */
export function copyOfFaults(faults: Faults): Faults {
  return structuredClone(faults);
}

/** Turns every fault off; delays stay. */
export function calmDown(faults: Faults): void {
  Object.assign(faults.process, CALM.process);
  Object.assign(faults.disk, CALM.disk);
  Object.assign(faults.network, CALM.network);
  Object.assign(faults.deployment, CALM.deployment);
  faults.client.answerLoss = 0;
}

function strikesOf(table: Table): StrikeWeights {
  for (const name of Object.keys(table)) {
    if (!STRIKES.has(name)) throw new Error(`a plan knows no strike '${name}'`);
  }
  return table as StrikeWeights;
}

function part(table: Table, name: string): Table {
  const value = table[name];
  return typeof value === 'object' && value !== null ? (value as Table) : {};
}

function number(table: Table, name: string, fallback: number): number {
  const value = table[name];
  return typeof value === 'number' ? value : fallback;
}

/** Names in the file are written with dashes. An unknown name is a mistake. */
function filled<T extends object>(defaults: T, table: Table): T {
  const given = Object.entries(table).map(([name, value]) => {
    const field = name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
    if (!(field in defaults)) throw new Error(`a plan knows nothing of '${name}'`);
    return [field, value] as const;
  });
  return { ...defaults, ...Object.fromEntries(given) };
}
