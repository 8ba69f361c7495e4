/**
 * One holder per key, as deployments see it: while a server process can hear an exclusive handler of a key, it starts no other
 * invocation on that key. Handlers that are not heard do not count: those that outlive their server, and earlier attempts of an
 * invocation that has a newer one.
 */

import type { TargetKind } from '@engine/domain';

import type { ExchangeFacts } from '../deployment/sim-exchange.js';
import type { Lab } from '../workloads/lab.js';

export class ExclusivityChecker {
  readonly #lab: Lab;
  readonly #kindOf: (service: string, handler: string) => TargetKind | undefined;
  readonly #open = new Map<string, Map<number, ExchangeFacts>>();

  constructor(lab: Lab, kindOf: (service: string, handler: string) => TargetKind | undefined) {
    this.#lab = lab;
    this.#kindOf = kindOf;
  }

  opened(facts: ExchangeFacts): void {
    const place = this.#placeOf(facts);
    if (place === undefined) return;
    const open = this.#open.get(place) ?? new Map<number, ExchangeFacts>();
    this.#open.set(place, open);
    for (const other of open.values()) {
      if (other.invocationId === facts.invocationId) open.delete(other.number);
      else
        this.#lab.violation(
          `${place} is held by ${other.invocationId} and by ${facts.invocationId}`,
        );
    }
    open.set(facts.number, facts);
  }

  over(facts: ExchangeFacts): void {
    const place = this.#placeOf(facts);
    if (place !== undefined) this.#open.get(place)?.delete(facts.number);
  }

  #placeOf({ service, handler, key }: ExchangeFacts): string | undefined {
    const isHeld = this.#kindOf(service, handler) === 'object-exclusive';
    return isHeld ? `${service}/${key ?? ''}` : undefined;
  }
}
