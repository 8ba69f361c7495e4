/** Something that is started once, serves, and is taken down once. */
export interface Service extends AsyncDisposable {
  /** Resolves when the service takes work. Rejects with a coded error when it cannot; then there is nothing to dispose. */
  start(): Promise<void>;
}

/**
 * Starts services in order, each one leaning on those before it. When one fails, those already started are taken down in
 * the opposite order and the failure is thrown. The stack that comes back takes all of them down.
 */
export async function startInOrder(services: readonly Service[]): Promise<AsyncDisposableStack> {
  await using starting = new AsyncDisposableStack();
  for (const service of services) {
    await service.start();
    starting.use(service);
  }
  return starting.move();
}
