import { AdminFixture } from './admin-fixture.js';
import { FakeEndpoint, service } from './fake-endpoint.js';

/** An admin, and two endpoints that serve the same service `Svc`; nothing is registered yet. */
export class TwoEndpoints implements AsyncDisposable {
  readonly admin: AdminFixture;
  readonly one: FakeEndpoint;
  readonly two: FakeEndpoint;

  private constructor(admin: AdminFixture, [one, two]: readonly [FakeEndpoint, FakeEndpoint]) {
    this.admin = admin;
    this.one = one;
    this.two = two;
  }

  static async start(): Promise<TwoEndpoints> {
    const answer = { manifest: { services: [service('Svc')] } };
    const endpoints = [FakeEndpoint.start('h2', answer), FakeEndpoint.start('h2', answer)] as const;
    return new TwoEndpoints(await AdminFixture.start(), await Promise.all(endpoints));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const parts = [this.admin, this.one, this.two];
    await Promise.all(parts.map((each) => each[Symbol.asyncDispose]()));
  }
}
