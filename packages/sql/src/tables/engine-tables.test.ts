import { describe, expect, it } from '@jest/globals';
import type { StateSnapshot } from '@engine/wire';
import { AT, deploymentId, Values, tablesOver, tablesWith, scan, cells } from '../testing/scans.js';

describe('the tables of the schema', () => {
  it('show every deployment and the newest revision of each service', async () => {
    const { tables } = tablesOver();
    expect(await scan(tables, 'sys_deployment')).toHaveLength(2);
    expect((await scan(tables, 'sys_deployment'))[0]).toEqual([
      ...[deploymentId, 'http', 'http://127.0.0.1:9081/', AT, 5, 7, ['Counter']],
    ]);
    expect(await scan(tables, 'sys_service')).toEqual([
      ['Counter', 2, false, 'virtual_object', deploymentId],
    ]);
  });
});

describe('state', () => {
  const value = (stateKey: string, bytes: Uint8Array): StateSnapshot => ({
    partitionKey: 2n ** 64n - 1n,
    service: 'Counter',
    key: 'k',
    stateKey,
    value: bytes,
  });

  it('shows values as bytes, and as text where they are UTF-8', async () => {
    const values = [value('ä', Uint8Array.of(0x37)), value('b', Uint8Array.of(0xff))];
    const common = { partition_key: 2n ** 64n - 1n, service_name: 'Counter', service_key: 'k' };
    expect(await cells(tablesWith({ state: new Values(values) }), 'state')).toEqual([
      {
        ...common,
        ...{
          key: 'ä',
          key_length: 2,
          value_utf8: '7',
          value: Uint8Array.of(0x37),
          value_length: 1,
        },
      },
      { ...common, key: 'b', key_length: 1, value: Uint8Array.of(0xff), value_length: 1 },
    ]);
  });

  it.each([
    [{}, [[undefined, undefined]]],
    [{ service_key: ['k'] }, [[undefined, undefined]]],
    [{ service_name: ['S'] }, [['S', undefined]]],
    [
      { service_name: ['S', 'T'], service_key: ['k'] },
      [
        ['S', 'k'],
        ['T', 'k'],
      ],
    ],
  ])('with filters on %j reads the ranges %j', async (keys, ranges) => {
    const state = new Values([]);
    await scan(tablesWith({ state }), 'state', { keys });
    expect(state.asked.map(({ service, key }) => [service, key])).toEqual(ranges);
  });
});
