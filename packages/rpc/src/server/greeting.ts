/** The server's side of a handshake: nothing of a call is looked at before both ends are known to fit. */

import type { Metadata, ServerErrorResponse } from '@grpc/grpc-js';

import { onNodeRefused } from '../events.js';
import { introductionToMetadata, meet, type Introduction, type KnownNode } from '../handshake.js';
import { toStatus } from '../status.js';

/** What all kinds of calls have. */
interface GreetedCall {
  readonly metadata: Metadata;
  getPeer(): string;
  sendMetadata(metadata: Metadata): void;
}

/** Who calls, or the refusal with which the call is to end. The greeting goes out in both cases: the other end checks too. */
export function greet(
  call: GreetedCall,
  mine: Introduction,
): { readonly node: KnownNode } | { readonly refusal: Partial<ServerErrorResponse> } {
  call.sendMetadata(introductionToMetadata(mine));
  try {
    return { node: meet(mine, call.metadata) };
  } catch (error) {
    onNodeRefused(call.getPeer(), error);
    return { refusal: toStatus(error) };
  }
}
