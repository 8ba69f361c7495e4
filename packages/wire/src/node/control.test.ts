import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';

import { arbitraryApplied, arbitraryReports } from '../../contract/index.js';
import { AppliedResponse, ReportsResponse } from '../gen/engine/node/v1/node.js';
import { appliedFromWire, appliedToWire, reportsFromWire, reportsToWire } from './control.js';

describe('what a node says of its partitions', () => {
  it('comes through bytes as it is', () => {
    fc.assert(
      fc.property(arbitraryReports, arbitraryApplied, (reports, applied) => {
        const bytes = ReportsResponse.encode(reportsToWire(reports)).finish();
        expect(reportsFromWire(ReportsResponse.decode(bytes))).toEqual(reports);
        const place = AppliedResponse.encode(appliedToWire(applied)).finish();
        expect(appliedFromWire(AppliedResponse.decode(place))).toEqual(applied);
      }),
    );
  });

  it('is refused when a newer version has more words for it', () => {
    const [report] = reportsToWire(
      fc.sample(arbitraryReports, 20).find(({ size }) => size > 0) ?? new Map(),
    ).reports;
    for (const newer of [{ phase: 99 }, { phase: 0 }, { fault: 99 }, { fault: 0 }]) {
      const message = { reports: [{ ...report, ...newer }] } as unknown as ReportsResponse;
      expect(() => reportsFromWire(message)).toThrow(/unknown or missing/);
    }
  });
});
