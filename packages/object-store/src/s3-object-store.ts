/**
 * ObjectStore in a bucket of S3, or of a service that speaks like it. The SDK is loaded with the first call. Where AWS is and who we are
 * comes from the options, else from where the SDK always looks: environment, profile, machine role.
 *
 * The rights needed: to list the bucket, to get, put and delete its objects.
 */

import type { S3Client, S3ClientConfig, S3ServiceException } from '@aws-sdk/client-s3';
import type * as SdkModule from '@aws-sdk/client-s3';
import { EngineError, isEngineError } from '@engine/domain';
import { OBJECT_BYTES_MAX, requireObjectName, type ObjectStore } from '@engine/snapshots';

import { S3_CALL_MS_MAX, S3_CONNECT_MS_MAX, S3_TRIES_MAX } from './limits.js';

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

export interface S3Options {
  readonly bucket: string;
  /** Before every name, without a slash at its ends; may be empty. */
  readonly prefix: string;
  readonly region?: string | undefined;
  /** Another service that speaks S3; its buckets are addressed in the path. */
  readonly endpoint?: string | undefined;
  readonly credentials?: S3Credentials | undefined;
  /** S3_CALL_MS_MAX if absent. */
  readonly callMsMax?: number;
}

/** The module, loaded when it is needed. */
type Sdk = typeof SdkModule;

interface Loaded {
  readonly sdk: Sdk;
  readonly client: S3Client;
}

interface Call extends Loaded {
  readonly signal: { readonly abortSignal: AbortSignal };
}

export class S3ObjectStore implements ObjectStore, Disposable {
  readonly #options: S3Options;
  readonly #prefix: string;
  #client: Promise<Loaded> | undefined;

  constructor(options: S3Options) {
    this.#options = options;
    this.#prefix = options.prefix === '' ? '' : `${options.prefix}/`;
  }

  async put(name: string, bytes: Uint8Array): Promise<void> {
    requireObjectName(name);
    if (bytes.length > OBJECT_BYTES_MAX)
      throw new EngineError('storage', 'the object is too large');
    // The SDK may send it again.
    const body = bytes.slice();
    await this.#call(({ sdk, client, signal }) =>
      client.send(new sdk.PutObjectCommand({ ...this.#object(name), Body: body }), signal),
    );
  }

  get(name: string): Promise<Uint8Array | undefined> {
    return this.#call(async ({ sdk, client, signal }) => {
      try {
        const answer = await client.send(new sdk.GetObjectCommand(this.#object(name)), signal);
        const { ContentLength: length = 0, Body: body } = answer;
        if (length > OBJECT_BYTES_MAX) throw new EngineError('storage', 'the object is too large');
        const bytes = (await body?.transformToByteArray()) ?? new Uint8Array(0);
        if (bytes.length === length) return bytes;
        throw new EngineError('unavailable', 'the object came in part');
      } catch (error) {
        if (statusOf(error) === 404 && nameOf(error) !== 'NoSuchBucket') return undefined;
        throw error;
      }
    });
  }

  async list(prefix: string): Promise<readonly string[]> {
    const names: string[] = [];
    let token: string | undefined;
    do {
      const page = await this.#call(({ sdk, client, signal }) =>
        client.send(
          new sdk.ListObjectsV2Command({
            Bucket: this.#options.bucket,
            Prefix: this.#prefix + prefix,
            ...(token === undefined ? {} : { ContinuationToken: token }),
          }),
          signal,
        ),
      );
      for (const { Key: key } of page.Contents ?? []) {
        if (key !== undefined) names.push(key.slice(this.#prefix.length));
      }
      token = page.NextContinuationToken;
    } while (token !== undefined);
    return names.sort();
  }

  async delete(name: string): Promise<void> {
    await this.#call(({ sdk, client, signal }) =>
      client.send(new sdk.DeleteObjectCommand(this.#object(name)), signal),
    );
  }

  [Symbol.dispose](): void {
    void this.#client?.then(({ client }) => {
      client.destroy();
    });
  }

  #object(name: string): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: this.#options.bucket, Key: this.#prefix + name };
  }

  async #call<T>(body: (call: Call) => Promise<T>): Promise<T> {
    this.#client ??= loadClient(this.#options);
    const { sdk, client } = await this.#client;
    const abortSignal = AbortSignal.timeout(this.#options.callMsMax ?? S3_CALL_MS_MAX);
    try {
      return await body({ sdk, client, signal: { abortSignal } });
    } catch (error) {
      throw codedError(error, this.#options.bucket);
    }
  }
}

async function loadClient(options: S3Options): Promise<Loaded> {
  const sdk = await import('@aws-sdk/client-s3');
  return { sdk, client: new sdk.S3Client(clientConfig(options)) };
}

function clientConfig({ region, endpoint, credentials }: S3Options): S3ClientConfig {
  return {
    maxAttempts: S3_TRIES_MAX,
    requestHandler: { connectionTimeout: S3_CONNECT_MS_MAX },
    ...(region === undefined ? {} : { region }),
    ...(endpoint === undefined ? {} : otherService(endpoint, region)),
    ...(credentials === undefined ? {} : { credentials: { ...credentialsOf(credentials) } }),
  };
}

/** What other services may lack: buckets as host names, regions, checksums of their own. Snapshots have checksums. */
function otherService(endpoint: string, region: string | undefined): S3ClientConfig {
  return {
    endpoint,
    region: region ?? 'us-east-1',
    forcePathStyle: true,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  };
}

function credentialsOf({ accessKeyId, secretAccessKey, sessionToken }: S3Credentials): {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
} {
  return {
    accessKeyId,
    secretAccessKey,
    ...(sessionToken === undefined ? {} : { sessionToken }),
  };
}

/** Refusals are `storage`; what may pass, `unavailable`. */
function codedError(cause: unknown, bucket: string): EngineError {
  if (isEngineError(cause)) return cause;
  const status = statusOf(cause) ?? 0;
  const isRefusal = (status >= 400 && status < 429) || nameOf(cause) === 'CredentialsProviderError';
  const reason = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
  const message = `the bucket ${bucket} ${isRefusal ? 'refuses' : 'does not answer'} (${reason})`;
  return new EngineError(isRefusal && status !== 408 ? 'storage' : 'unavailable', message, {
    cause,
  });
}

function statusOf(error: unknown): number | undefined {
  return (error as Partial<S3ServiceException> | undefined)?.$metadata?.httpStatusCode;
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : '';
}
