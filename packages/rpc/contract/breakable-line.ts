/** A line between two nodes that a test cuts or stops: what enters at its port comes out at the target. */

import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

export class BreakableLine {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #targetPort = 0;
  #isFrozen = false;
  isRefusing = false;

  private constructor() {
    this.#server = createServer((near) => {
      if (this.isRefusing) near.resetAndDestroy();
      else this.#join(near);
    });
  }

  static async to(targetPort: number): Promise<BreakableLine> {
    const line = new BreakableLine();
    line.#targetPort = targetPort;
    await new Promise<void>((resolve) => {
      line.#server.listen(0, '127.0.0.1', resolve);
    });
    return line;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get connectionCount(): number {
    return this.#sockets.size / 2;
  }

  /** Where new connections come out from now on. */
  retarget(port: number): void {
    this.#targetPort = port;
  }

  /** Both ends learn at once that the line is gone. */
  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  /** Nothing passes any more, and neither end is told. New connections are taken and stay silent. */
  freeze(): void {
    this.#isFrozen = true;
    for (const socket of this.#sockets) socket.pause();
  }

  thaw(): void {
    this.#isFrozen = false;
    for (const socket of this.#sockets) socket.resume();
  }

  close(): void {
    this.cut();
    this.#server.close();
  }

  #join(near: Socket): void {
    const far = connect(this.#targetPort, '127.0.0.1');
    this.#carry(near, far);
    this.#carry(far, near);
    if (this.#isFrozen) {
      near.pause();
      far.pause();
    }
  }

  #carry(from: Socket, to: Socket): void {
    this.#sockets.add(from);
    from.on('data', (bytes) => {
      if (!to.write(bytes)) from.pause();
    });
    to.on('drain', () => {
      if (!this.#isFrozen) from.resume();
    });
    from.on('error', () => undefined);
    from.on('close', () => {
      this.#sockets.delete(from);
      to.destroy();
    });
  }
}
