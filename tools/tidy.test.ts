import { describe, expect, it } from '@jest/globals';
import { drawnStoreys, drawStoreys } from './graph.ts';
import {
  bannedWords,
  brokenLinks,
  busyFrontDoors,
  codesWithoutPage,
  homelessPackages,
  unfurnishedPackages,
} from './tidy.ts';

describe('tidiness', () => {
  it.each([
    ['every package stands on a storey', homelessPackages],
    ['every package has a README, a front door and a line in the map', unfurnishedPackages],
    ['front doors only open', busyFrontDoors],
    ['every error code has a page', codesWithoutPage],
    ['no banned words', bannedWords],
    ['no link leads nowhere', brokenLinks],
  ])('%s', (_rule, findings) => {
    expect(findings()).toEqual([]);
  });

  it('the drawing of the storeys is fresh (node tools/graph.ts)', () => {
    expect(drawnStoreys()).toBe(drawStoreys());
  });
});
