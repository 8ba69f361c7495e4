/** What callers do, and what must have come of it in the end. */

/** Services whose objects are books (services/book.ts). */
export type BookName = 'Account' | 'Bank' | 'Receipts';

export type Operation =
  /** A call of the exclusive handler of one object. */
  | { readonly kind: 'add'; readonly key: string; readonly amount: number }
  /** The same, but the object is held over a step and a sleep. */
  | {
      readonly kind: 'slow-add';
      readonly key: string;
      readonly amount: number;
      readonly ms: number;
    }
  /** One way, perhaps delayed, perhaps the caller attaches to it afterwards. */
  | {
      readonly kind: 'send-add';
      readonly key: string;
      readonly amount: number;
      readonly delayMs: number;
      readonly attaches: boolean;
    }
  /** A shared handler reads what an object holds. */
  | { readonly kind: 'read'; readonly key: string }
  /** From one object to another: the second half a call or a one-way send. */
  | {
      readonly kind: 'transfer';
      readonly from: string;
      readonly to: string;
      readonly amount: number;
      readonly isOneWay: boolean;
    }
  /** Steps whose results are chance; each is booked at `key`. `isFlaky`: attempts of it fail now and then. */
  | {
      readonly kind: 'steps';
      readonly count: number;
      readonly key: string;
      readonly isFlaky: boolean;
    }
  | { readonly kind: 'nap'; readonly ms: number }
  /** Waits for an awakeable that is completed from outside. */
  | { readonly kind: 'wait' }
  /** A workflow that waits for a promise. */
  | { readonly kind: 'order'; readonly key: string }
  /** A handler that sends to many objects, some of it delayed. */
  | {
      readonly kind: 'spread';
      readonly keys: readonly string[];
      readonly amount: number;
      readonly delayMs: number;
    };

export interface PlannedOperation {
  /** Unique in a run: `<caller>-<number>`. */
  readonly id: string;
  readonly what: Operation;
  /** Sent with an idempotency key, so that it is sent again until it is acknowledged. */
  readonly isKeyed: boolean;
  /** How often it is called once more, with the same key, after it was answered. */
  readonly repeats: number;
}

/** An entry that an operation makes in a book, exactly once. */
export interface Effect {
  readonly id: string;
  readonly book: string;
  /** Undefined: the result of the step with the id of the effect. */
  readonly amount: number | undefined;
}

export function bookOf(service: BookName, key: string): string {
  return `${service}/${key}`;
}

/** Everything that must have been booked once the operation was accepted. */
export function effectsOf({ id, what }: PlannedOperation): readonly Effect[] {
  switch (what.kind) {
    case 'add':
    case 'slow-add':
    case 'send-add':
      return [{ id, book: bookOf('Account', what.key), amount: what.amount }];
    case 'transfer':
      return [
        { id: `${id}/from`, book: bookOf('Bank', what.from), amount: -what.amount },
        { id: `${id}/to`, book: bookOf('Bank', what.to), amount: what.amount },
      ];
    case 'steps':
      return Array.from({ length: what.count }, (_, step) => ({
        id: `${id}/${String(step)}`,
        book: bookOf('Receipts', what.key),
        amount: undefined,
      }));
    case 'order':
      return [{ id: `${id}/paid`, book: bookOf('Receipts', what.key), amount: undefined }];
    case 'spread':
      return what.keys.map((key, index) => ({
        id: `${id}/${String(index)}`,
        book: bookOf('Account', key),
        amount: what.amount,
      }));
    case 'read':
    case 'nap':
    case 'wait':
      return [];
  }
}

/** The value that completes the awakeable of an operation, and the promise of a workflow. */
export function tokenOf(id: string): string {
  return `token of ${id}`;
}
