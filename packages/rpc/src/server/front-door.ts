/**
 * The port of a node. Plain text and TLS come in at the same one, so that a cluster changes from one to the other node by node;
 * the first byte of a connection says which it is. Every connection is handed on as a stream of bytes that gRPC speaks on.
 */

import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls';
import type { Duplex } from 'node:stream';

import { EngineError } from '@engine/domain';

import { onTlsFailed } from '../events.js';
import { FIRST_BYTE_MS_MAX } from '../limits.js';
import { isAllowedSubject } from '../subject-names.js';
import type { TlsFiles, TlsMaterial } from '../tls-files.js';

/** First byte of a TLS connection: a handshake record. gRPC in plain text begins with the letter P. */
const TLS_HANDSHAKE = 0x16;

export class FrontDoor {
  readonly #tls: TlsFiles | undefined;
  readonly #accept: (connection: Duplex) => void;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #tlsServer: TlsServer | undefined;
  #material: TlsMaterial | undefined;

  constructor(tls: TlsFiles | undefined, accept: (connection: Duplex) => void) {
    this.#tls = tls?.options.mode === 'off' ? undefined : tls;
    this.#accept = accept;
    this.#server = createServer({ noDelay: true }, (socket) => {
      this.#welcome(socket);
    });
  }

  /** Of a door that is open. */
  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Connections that are open. */
  get connectionCount(): number {
    return this.#sockets.size;
  }

  /** Errors: RT0004 when the address is taken or not ours. */
  open(host: string, port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (cause: Error): void => {
        const reason = `cannot listen on ${host}:${String(port)}: ${cause.message}`;
        reject(new EngineError('RT0004', reason, { cause }));
      };
      this.#server.once('error', fail);
      this.#server.listen({ host, port }, () => {
        this.#server.off('error', fail);
        resolve();
      });
    });
  }

  /** No new connections. */
  close(): void {
    this.#server.close();
  }

  /**
   * Ends all connections as they stand.
   * NOTE: not by a reset: Node may forget to close a socket that is reset while it ends, and then never comes to the end of the process.
   */
  cut(): void {
    this.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #welcome(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('error', ignore);
    if (this.#tls === undefined) {
      this.#accept(socket);
      return;
    }
    socket.setTimeout(FIRST_BYTE_MS_MAX, () => socket.destroy());
    socket.once('data', (bytes: Buffer) => {
      socket.setTimeout(0);
      socket.pause();
      socket.unshift(bytes);
      this.#sort(socket, bytes[0] === TLS_HANDSHAKE);
    });
  }

  #sort(socket: Socket, isTls: boolean): void {
    const isPlainAllowed = this.#tls?.options.mode !== 'require';
    if (isTls) this.#secured().emit('connection', socket);
    else if (isPlainAllowed) this.#accept(socket);
    else {
      onTlsFailed(new Error(`plain text from ${socket.remoteAddress ?? 'somebody'}`));
      socket.destroy();
    }
  }

  #secured(): TlsServer {
    const { options } = this.#requireTls();
    const material = this.#requireTls().current();
    const context = { key: material.key, cert: material.cert, ca: material.ca };
    if (this.#tlsServer === undefined) {
      this.#tlsServer = createTlsServer(
        {
          ...context,
          ALPNProtocols: ['h2'],
          requestCert: options.requireClientAuth,
          rejectUnauthorized: options.requireClientAuth,
        },
        (socket) => {
          const { requireClientAuth, allowedSubjectNames } = options;
          const isChecked = requireClientAuth && allowedSubjectNames.length > 0;
          if (isChecked && !isAllowedSubject(socket.getPeerCertificate(), allowedSubjectNames)) {
            onTlsFailed(new Error('the certificate has none of the allowed subject names'));
            socket.destroy();
            return;
          }
          this.#accept(socket);
        },
      );
      this.#tlsServer.on('tlsClientError', onTlsFailed);
    } else if (this.#material !== material) {
      this.#tlsServer.setSecureContext(context);
    }
    this.#material = material;
    return this.#tlsServer;
  }

  #requireTls(): TlsFiles {
    if (this.#tls === undefined) throw new EngineError('internal', 'TLS is off');
    return this.#tls;
  }
}

function ignore(): void {
  // What is wrong with a connection is seen by those who speak on it.
}
