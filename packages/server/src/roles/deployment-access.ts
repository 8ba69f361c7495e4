/** How this process reaches deployments: over HTTP or as functions, signed if there is a key. */

import { LambdaInvoker, type FunctionInvoker } from '@engine/lambda';
import { RequestSigner } from '@engine/request-identity';
import { systemClock, systemScheduler } from '@engine/runtime';
import { createLogger } from '@engine/telemetry';
import { EndpointTransport } from '@engine/worker';

import type { ServerConfig } from '../config/config.js';
import { loadSigningKey } from '../config/signing-key-file.js';

const log = createLogger('server:deployments');

export interface DeploymentAccess {
  readonly transport: EndpointTransport;
  readonly functions: FunctionInvoker;
  /** Undefined: requests are not signed. */
  readonly signer: RequestSigner | undefined;
}

/** Connections are closed by `parts`. The configuration has looked at the key file, so it is there, as a rule. */
export function openDeploymentAccess(
  config: ServerConfig,
  parts: AsyncDisposableStack,
): DeploymentAccess {
  const { invoker } = config.worker;
  const signer = requestSigner(config);
  const functions = parts.use(
    new LambdaInvoker(
      {
        profile: invoker.awsProfile,
        assumeRoleExternalId: invoker.awsAssumeRoleExternalId,
        compressionThresholdBytes: invoker.requestCompressionThreshold,
      },
      systemClock,
    ),
  );
  const transport = parts.use(
    new EndpointTransport({ clock: systemClock, scheduler: systemScheduler, functions, signer }),
  );
  return { transport, functions, signer };
}

function requestSigner({ worker }: ServerConfig): RequestSigner | undefined {
  const { requestIdentityPrivateKeyPemFile: file, requestIdentityExpiration } = worker.invoker;
  if (file === undefined) return undefined;
  const options = { key: loadSigningKey(file), expirationMs: requestIdentityExpiration };
  const signer = new RequestSigner(options, systemClock);
  log.info({ publicKey: signer.publicKey }, 'requests to deployments are signed');
  return signer;
}
