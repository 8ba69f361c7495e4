import { describe, expect, it } from '@jest/globals';
import { toPartitionId } from '@engine/domain';
import * as fc from 'fast-check';

import { isNewEnough } from './connection.js';
import { documentKey, documentName, logStream, logSubject, metadataBucket } from './subjects.js';

const words = fc.array(
  fc.string({ unit: 'binary', minLength: 1 }).filter((word) => !word.includes('/')),
  { minLength: 1 },
);

describe('names', () => {
  it('streams, subjects and buckets hold only what the servers allow', () => {
    const identity = { cluster: 'my cluster.*>/ü', partition: toPartitionId(12), incarnation: 3n };
    expect(logStream(identity)).toMatch(/^[-\w]+_log_12_3$/);
    expect(logSubject(identity)).toMatch(/^engine\.[-=\w]+\.log\.12\.3$/);
    expect(metadataBucket(identity.cluster)).toMatch(/^[-\w]+$/);
  });

  it('keys of documents hold only what the servers allow, and come back', () => {
    fc.assert(
      fc.property(words, (parts) => {
        const name = parts.join('/');
        expect(documentKey(name)).toMatch(/^[-=.\w]+$/);
        expect(documentName(documentKey(name))).toBe(name);
      }),
    );
  });
});

describe('isNewEnough', () => {
  it.each([
    ['2.9.10', false],
    ['2.12.3', false],
    ['2.14.0', true],
    ['2.15.2', true],
    ['2.14.0-RC.1', true],
    ['3.0.0', true],
    ['', false],
  ])('%s: %s', (version, isEnough) => {
    expect(isNewEnough(version)).toBe(isEnough);
  });
});
