/** Message of an error and of what caused it. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? '' : ` (${errorText(error.cause)})`;
  return `${error.stack ?? error.message}${cause}`;
}
