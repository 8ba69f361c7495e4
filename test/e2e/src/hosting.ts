/** The ways in which the SDK hosts handlers, and how each is registered and reached. */

import { awsEnvironment } from '@engine/lambda/testing';

import { ServiceProcess } from './service-process.js';

export const HOSTINGS = ['http2', 'http1', 'lambda'] as const;
export type Hosting = (typeof HOSTINGS)[number];

const FUNCTION_ARN = 'arn:aws:lambda:eu-central-1:123456789012:function:every:$LATEST';

export interface HostedOptions {
  /** Port of an earlier process, to take its place. */
  readonly port?: number;
  /** Public key of callers. */
  readonly identityKey?: string;
}

/** Starts the services of `hosted-services.ts`. */
export function startHosted(
  hosting: Hosting,
  { port = 0, identityKey }: HostedOptions = {},
): Promise<ServiceProcess> {
  return ServiceProcess.start('hosted-services.ts', {
    port,
    env: {
      HOSTING: hosting,
      FUNCTION_ARN,
      ...(identityKey === undefined ? {} : { IDENTITY_KEY: identityKey }),
    },
  });
}

/** Body of the registration. */
export function registration(hosting: Hosting, services: ServiceProcess): object {
  switch (hosting) {
    case 'http2':
      return { uri: services.uri };
    case 'http1':
      return { uri: services.uri, use_http_11: true };
    case 'lambda':
      return { arn: FUNCTION_ARN };
  }
}

/** Environment of an engine that reaches the services. */
export function engineEnvironment(services: ServiceProcess): Record<string, string> {
  return awsEnvironment(services.uri);
}
