/** How a route is described. */

import type { z } from 'zod';

/** In the order of the document. */
export const TAGS = [
  ['deployment', 'Where services run: register, look at, update in place, remove.'],
  ['invocation', 'Operations on invocations, one by one and on many.'],
  ['subscription', 'Topics whose messages invoke handlers.'],
  ['kafka_cluster', 'Kafka clusters that subscriptions read from.'],
  ['service', 'Services, their settings and their state.'],
  ['service_handler', 'Handlers of services.'],
  ['cluster', 'Nodes and partitions of the cluster, and what operators ask of them.'],
  ['cluster_health', 'Health of the cluster.'],
  ['health', 'Health of this server.'],
  ['version', 'Versions that this server speaks.'],
  ['introspection', 'SQL over what the server knows.'],
  ['rule', 'Rules of flow control.'],
] as const;

export type Tag = (typeof TAGS)[number][0];

export interface Answer {
  readonly description: string;
  /** Shape of the JSON; undefined = no body. One of `components.ts`, or any JSON. */
  readonly shape?: z.ZodType | 'json';
  /** Says where the new thing is. */
  readonly hasLocation?: boolean;
}

export interface QueryParameter {
  readonly description: string;
  readonly type: 'boolean' | 'integer' | 'string';
  readonly values?: readonly string[];
}

export interface Operation {
  readonly tag: Tag;
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  readonly deprecated?: true;
  readonly query?: Readonly<Record<string, QueryParameter>>;
  readonly body?: z.ZodType;
  readonly answers: Readonly<Record<number, Answer>>;
  /** Statuses that come with the error body, beside 405 and 500, which every path may give. */
  readonly errors: readonly number[];
}

/** By method and path as the route table has them, such as `GET /deployments/:deployment`. */
export type Operations = Readonly<Record<string, Operation>>;
