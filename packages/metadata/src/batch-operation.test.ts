import { describe, expect, it } from '@jest/globals';
import { invocationIdFromBytes, isEngineError, type DeploymentId } from '@engine/domain';
import { encodeUtf8 } from '@engine/stdx';

import {
  decodeBatchOperation,
  encodeBatchOperation,
  type BatchOperation,
} from './documents/batch-operation.js';

const ID = invocationIdFromBytes(new Uint8Array(24).fill(3));

const BATCH: BatchOperation = {
  id: 'batch_1',
  owner: 'admin-1',
  operation: {
    kind: 'restart-as-new',
    copyUpTo: 2,
    deployment: { kind: 'fixed', deploymentId: 'dp_1' as DeploymentId },
  },
  selection: {
    kind: 'filter',
    filter: {
      service: 'Greeter',
      handler: undefined,
      key: undefined,
      statuses: ['completed'],
      result: 'failure',
      deploymentId: undefined,
      createdAfter: 1,
      createdBefore: undefined,
    },
  },
  isDryRun: false,
  status: 'running',
  isAbortRequested: false,
  reason: undefined,
  createdAt: 1_000,
  endedAt: undefined,
  cursor: { kind: 'after', id: undefined },
  page: [{ id: ID, journalLength: 4 }],
  scanned: 9,
  matched: 3,
  succeeded: 1,
  failed: 1,
  skipped: 0,
  failures: [{ id: ID, reason: 'gone' }],
};

describe('the document of a batch operation', () => {
  it('is read back as it was written', () => {
    expect(decodeBatchOperation(encodeBatchOperation(BATCH))).toEqual(BATCH);
    const listed: BatchOperation = {
      ...BATCH,
      operation: { kind: 'kill' },
      selection: { kind: 'ids', ids: [ID] },
      cursor: { kind: 'index', index: 1 },
      status: 'failed',
      reason: 'broken',
      endedAt: 2_000,
    };
    expect(decodeBatchOperation(encodeBatchOperation(listed))).toEqual(listed);
  });

  it.each(['', '{}', '{"version":2}', 'null', '\xff'])('%j is refused', (text) => {
    expect(() => decodeBatchOperation(encodeUtf8(text))).toThrow(
      expect.objectContaining({ code: 'storage' }),
    );
  });

  it('a document of a newer format is refused', () => {
    const text = new TextDecoder().decode(encodeBatchOperation(BATCH));
    const newer = encodeUtf8(text.replace('"version":1', '"version":2'));
    try {
      decodeBatchOperation(newer);
      expect('refused').toBe('read');
    } catch (error) {
      expect(isEngineError(error) && error.code).toBe('storage');
    }
  });
});
