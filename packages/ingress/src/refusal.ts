/** Why the ingress itself says no: status and text of an answer with source `ingress`. */
export interface Refusal {
  readonly status: number;
  readonly message: string;
}

export function refuse(status: number, message: string): Refusal {
  return { status, message };
}

export const METHOD_NOT_ALLOWED = refuse(405, 'method not allowed');
export const NOT_FOUND = refuse(404, 'not found');
export const BODY_TOO_LARGE = refuse(413, 'cannot read body: LengthLimitError');
export const TOO_MANY_REQUESTS = refuse(
  429,
  'too many requests, the ingress is overloaded. Retry later.',
);

export function badHeader(name: string): Refusal {
  return refuse(400, `bad header ${name}: it has bytes that are not visible ASCII`);
}
