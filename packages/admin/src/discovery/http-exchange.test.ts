import { describe, expect, it } from '@jest/globals';
import { FakeEndpoint } from '../testing/fake-endpoint.js';
import { exchangeOver } from './http-exchange.js';

describe('an exchange', () => {
  it.each(['h2', 'h1'] as const)(
    'ends when its time is up, also in the body, %s',
    async (transport) => {
      await using endpoint = await FakeEndpoint.start(transport, { body: '{', stalls: true });
      const request = {
        origin: new URL(endpoint.uri),
        target: '/discover',
        headers: {},
        signal: AbortSignal.timeout(100),
      };
      const asked = exchangeOver({ useHttp11: transport === 'h1' }, request);
      await expect(asked).rejects.toMatchObject({
        fault: 'unusable',
        message: 'no answer in time',
      });
    },
  );
});
