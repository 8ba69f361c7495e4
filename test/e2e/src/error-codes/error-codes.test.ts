/** Every documented code is provoked in a real process and seen in each place where a person meets it. */

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ERROR_CODES } from '@engine/domain';

import { expectCode } from './sighting.js';
import { Stage } from './stage.js';
import { ERROR_TABLE } from './table.js';

const CASE_MS_MAX = 60_000;

let stage: Stage;

beforeAll(async () => {
  stage = await Stage.open({ ENGINE_MAX_JOURNAL_RETENTION: '1d' });
}, 60_000);

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

describe('the code', () => {
  for (const code of ERROR_CODES) {
    const line = ERROR_TABLE[code];
    if ('later' in line) continue;
    it(
      code,
      async () => {
        const sightings = await line.provoke(stage);
        expect([...new Set(sightings.map(({ place }) => place))].sort()).toEqual(
          [...line.shows].sort(),
        );
        for (const sighting of sightings) expectCode(code, sighting);
      },
      CASE_MS_MAX,
    );
  }
});

it('is missing only where nothing raises it yet', () => {
  expect(ERROR_CODES.filter((code) => 'later' in ERROR_TABLE[code])).toEqual(['META0009']);
});

it('the engine has lived through all of them', () => {
  expect(stage.engine.isRunning).toBe(true);
});
