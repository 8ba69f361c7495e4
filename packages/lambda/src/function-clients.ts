/**
 * Clients of the AWS SDK, one for each region and role. The SDK is loaded with the first call (about 75 ms and 30 MB): servers
 * without functions do not pay for it.
 *
 * Where AWS is and who we are for it comes from where the SDK always looks: environment, profile, machine role.
 */

import type { LambdaClient } from '@aws-sdk/client-lambda';
import { EngineError } from '@engine/domain';
import type { Clock } from '@engine/runtime';

import { boundedCollector } from './bounded-collector.js';
import { ASSUME_ROLE_MS_MAX, CLIENTS_MAX, CONNECT_MS_MAX, CONNECTIONS_MAX } from './limits.js';

export interface AwsOptions {
  /** Profile of the AWS configuration files; undefined = the SDK's choice. */
  readonly profile: string | undefined;
  /** Said when a role is taken on, if the owner of the role asks for it. */
  readonly assumeRoleExternalId: string | undefined;
  /** Longest wait for a role; ASSUME_ROLE_MS_MAX if absent. */
  readonly assumeRoleMsMax?: number;
}

interface FunctionPlace {
  readonly arn: string;
  readonly assumeRoleArn: string | undefined;
}

export class FunctionClients implements Disposable {
  readonly #options: AwsOptions;
  readonly #clock: Clock;
  readonly #clients = new Map<string, LambdaClient>();

  constructor(options: AwsOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
  }

  /** The client that reaches a function. */
  async of({ arn, assumeRoleArn }: FunctionPlace): Promise<LambdaClient> {
    // arn:partition:lambda:region:account:function:name:version
    const region = arn.split(':')[3] ?? '';
    const { LambdaClient } = await import('@aws-sdk/client-lambda');
    const key = `${region} ${assumeRoleArn ?? ''}`;
    const known = this.#clients.get(key);
    if (known !== undefined) return known;
    const client = new LambdaClient({
      region,
      ...this.#profile(),
      // The server counts attempts and waits between them.
      maxAttempts: 1,
      requestHandler: {
        connectionTimeout: CONNECT_MS_MAX,
        httpAgent: { keepAlive: true, maxSockets: CONNECTIONS_MAX },
        httpsAgent: { keepAlive: true, maxSockets: CONNECTIONS_MAX },
      },
      streamCollector: boundedCollector,
      ...(assumeRoleArn === undefined
        ? {}
        : { credentials: () => this.#assumeRole(assumeRoleArn, region) }),
    });
    this.#keep(key, client);
    return client;
  }

  [Symbol.dispose](): void {
    for (const client of this.#clients.values()) client.destroy();
    this.#clients.clear();
  }

  #keep(key: string, client: LambdaClient): void {
    const [oldest] = this.#clients.keys();
    // Not destroyed: calls may be under way.
    if (oldest !== undefined && this.#clients.size >= CLIENTS_MAX) this.#clients.delete(oldest);
    this.#clients.set(key, client);
  }

  /** Called by the SDK when it has no credentials or they are about to expire. */
  async #assumeRole(roleArn: string, region: string): Promise<Credentials> {
    const { AssumeRoleCommand, STSClient } = await import('@aws-sdk/client-sts');
    const sts = new STSClient({ region, ...this.#profile() });
    const { assumeRoleExternalId, assumeRoleMsMax = ASSUME_ROLE_MS_MAX } = this.#options;
    const limit = AbortSignal.timeout(assumeRoleMsMax);
    try {
      const answer = await sts.send(
        new AssumeRoleCommand({
          RoleArn: roleArn,
          RoleSessionName: `engine-${String(Math.floor(this.#clock.now() / 1_000))}`,
          ...(assumeRoleExternalId === undefined ? {} : { ExternalId: assumeRoleExternalId }),
        }),
        { abortSignal: limit },
      );
      return credentials(answer.Credentials, roleArn);
    } catch (error) {
      if (!limit.aborted) throw error;
      const text = `AWS did not give the role '${roleArn}' in time`;
      throw new EngineError('unavailable', text, { cause: error });
    } finally {
      sts.destroy();
    }
  }

  #profile(): { readonly profile?: string } {
    return this.#options.profile === undefined ? {} : { profile: this.#options.profile };
  }
}

interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
  readonly expiration?: Date;
}

interface AnsweredCredentials {
  readonly AccessKeyId?: string | undefined;
  readonly SecretAccessKey?: string | undefined;
  readonly SessionToken?: string | undefined;
  readonly Expiration?: Date | undefined;
}

function credentials(answered: AnsweredCredentials | undefined, roleArn: string): Credentials {
  const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = answered ?? {};
  if (AccessKeyId === undefined || SecretAccessKey === undefined || SessionToken === undefined) {
    throw new EngineError('RT0010', `no credentials came with the role '${roleArn}'`);
  }
  return {
    accessKeyId: AccessKeyId,
    secretAccessKey: SecretAccessKey,
    sessionToken: SessionToken,
    ...(Expiration === undefined ? {} : { expiration: Expiration }),
  };
}
