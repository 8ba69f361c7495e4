/** What the services of a test, in a process of their own, tell the test beside the engine, and what they wait for from it. */

const opened = new Set<string>();
const gates = new Map<string, () => void>();
process.on('message', (message: { open: string }) => {
  opened.add(message.open);
  gates.get(message.open)?.();
});
process.on('disconnect', () => {
  process.exit();
});

/** Tells the test that a line of code ran. */
export function happened(name: string): void {
  process.send?.({ happened: name });
}

/** Blocks until the test opens the gate. */
export function gate(name: string): Promise<void> {
  return opened.has(name)
    ? Promise.resolve()
    : new Promise((resolve) => {
        gates.set(name, resolve);
      });
}
