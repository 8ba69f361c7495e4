/** Methods of the generated service definitions as gRPC wants them. */

/** A generated message: bytes ⇄ object. */
interface Coder<Message> {
  encode(message: Message): { finish(): Uint8Array };
  decode(bytes: Uint8Array): Message;
}

/** One method of a generated service definition. */
interface GeneratedMethod<Request, Response> {
  readonly name: string;
  readonly requestType: Coder<Request>;
  readonly requestStream: boolean;
  readonly responseType: Coder<Response>;
  readonly responseStream: boolean;
}

/** What both ends of gRPC need to know of a method. */
export interface RpcMethod<Request, Response> {
  readonly path: string;
  readonly requestStream: boolean;
  readonly responseStream: boolean;
  readonly requestSerialize: (message: Request) => Buffer;
  readonly requestDeserialize: (bytes: Buffer) => Request;
  readonly responseSerialize: (message: Response) => Buffer;
  readonly responseDeserialize: (bytes: Buffer) => Response;
}

export function rpcMethod<Request, Response>(
  service: { readonly fullName: string },
  method: GeneratedMethod<Request, Response>,
): RpcMethod<Request, Response> {
  const { requestType, responseType } = method;
  return {
    path: `/${service.fullName}/${method.name}`,
    requestStream: method.requestStream,
    responseStream: method.responseStream,
    requestSerialize: (message) => viewOf(requestType.encode(message).finish()),
    requestDeserialize: (bytes) => requestType.decode(bytes),
    responseSerialize: (message) => viewOf(responseType.encode(message).finish()),
    responseDeserialize: (bytes) => responseType.decode(bytes),
  };
}

function viewOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
