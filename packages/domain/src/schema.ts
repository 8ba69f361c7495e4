/** Deployments, services and handlers: what discovery found and registration keeps. One versioned document. */

import type { DeploymentId } from './ids/index.js';
import type { OnMaxAttempts, RetryPolicy } from './retry-policy.js';

export type ServiceType = 'service' | 'virtual-object' | 'workflow';
export type HandlerType = 'exclusive' | 'shared' | 'workflow';
/** How a deployment wants to be spoken to. */
export type ProtocolMode = 'bidi-stream' | 'request-response';
export type HttpVersion = 'HTTP/1.1' | 'HTTP/2.0';

/** Where a deployment is and how it is reached. */
export type DeploymentEndpoint =
  | {
      readonly kind: 'http';
      /** Where the deployment listens; a path prefix and a query are kept. */
      readonly uri: string;
      readonly httpVersion: HttpVersion;
    }
  | {
      readonly kind: 'lambda';
      /** With version or alias. */
      readonly arn: string;
      /** Role that the server takes on to invoke the function. */
      readonly assumeRoleArn: string | undefined;
      /** What the function can unpack. */
      readonly compression: 'zstd' | undefined;
    };

/** Settings that a handler, else its service, else the server decides. Absent = ask the next one. */
export interface HandlerOptions {
  readonly inactivityTimeoutMs?: number | undefined;
  readonly abortTimeoutMs?: number | undefined;
  readonly journalRetentionMs?: number | undefined;
  readonly idempotencyRetentionMs?: number | undefined;
  readonly workflowCompletionRetentionMs?: number | undefined;
  readonly enableLazyState?: boolean | undefined;
  readonly retryPolicy?: PartialRetryPolicy | undefined;
}

export interface PartialRetryPolicy {
  readonly initialIntervalMs?: number | undefined;
  readonly exponentiationFactor?: number | undefined;
  readonly maxIntervalMs?: number | undefined;
  readonly maxAttempts?: number | undefined;
  readonly onMaxAttempts?: OnMaxAttempts | undefined;
}

/** Input rules as the manifest states them; absent = anything is accepted. */
export interface InputPayload {
  readonly required: boolean;
  readonly contentType: string | undefined;
  readonly jsonSchema: unknown;
}

/** Output description as the manifest states it; absent = `application/json` for non-empty results. */
export interface OutputPayload {
  readonly contentType: string | undefined;
  readonly setContentTypeIfEmpty: boolean;
  readonly jsonSchema: unknown;
}

export interface HandlerSchema {
  readonly name: string;
  /** Undefined for handlers of plain services. */
  readonly type: HandlerType | undefined;
  readonly input: InputPayload | undefined;
  readonly output: OutputPayload | undefined;
  /** Undefined = as the service says. True: not callable through the ingress. */
  readonly ingressPrivate: boolean | undefined;
  readonly documentation: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly options: HandlerOptions;
}

/** A service as one deployment serves it. */
export interface ServiceSchema {
  readonly name: string;
  readonly type: ServiceType;
  /** Starts at 1 and grows with each registration that contains the service. */
  readonly revision: number;
  readonly handlers: readonly HandlerSchema[];
  readonly ingressPrivate: boolean;
  readonly documentation: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly options: HandlerOptions;
}

export interface Deployment {
  readonly id: DeploymentId;
  readonly endpoint: DeploymentEndpoint;
  readonly protocolMode: ProtocolMode;
  readonly additionalHeaders: Readonly<Record<string, string>>;
  readonly metadata: Readonly<Record<string, string>>;
  /** Ms since the epoch. */
  readonly createdAt: number;
  readonly minProtocolVersion: number;
  readonly maxProtocolVersion: number;
  /** What the endpoint said of itself, e.g. `restate-sdk-typescript/1.17.2`. */
  readonly sdkVersion: string | undefined;
  readonly services: readonly ServiceSchema[];
}

/** The schema document of a cluster. */
export interface Schema {
  readonly deployments: readonly Deployment[];
}

export const EMPTY_SCHEMA: Schema = { deployments: [] };

/** What the server configuration says about every handler: values for what nobody set, and the most that anybody gets. */
export interface HandlerDefaults {
  readonly inactivityTimeoutMs: number;
  readonly abortTimeoutMs: number;
  readonly journalRetentionMs: number;
  readonly idempotencyRetentionMs: number;
  readonly workflowCompletionRetentionMs: number;
  readonly retryPolicy: RetryPolicy;
  readonly caps?: HandlerCaps | undefined;
}

/** Upper bounds on what handlers, services and the defaults themselves ask for. They are applied when a value is read. */
export interface HandlerCaps {
  readonly journalRetentionMs?: number | undefined;
  readonly idempotencyRetentionMs?: number | undefined;
  readonly workflowCompletionRetentionMs?: number | undefined;
  readonly retryAttempts?: number | undefined;
}
