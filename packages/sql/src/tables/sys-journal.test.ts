import { describe, expect, it } from '@jest/globals';
import { partitionKeyOf } from '@engine/domain';
import type { JournalSnapshot } from '@engine/wire';
import { AT, idOf, Journals, tablesWith, batches, scan, cells } from '../testing/scans.js';

describe('sys_journal', () => {
  const entry = (n: number, index: number): JournalSnapshot => ({
    id: idOf(n),
    index,
    entry: { kind: 'input', headers: [], payload: Uint8Array.of(1, 2), appendedAt: AT },
  });

  it('shows an entry with its bytes and its JSON', async () => {
    const tables = tablesWith({ journals: new Journals([entry(1, 0)]) });
    expect(await cells(tables, 'sys_journal')).toEqual([
      {
        partition_key: partitionKeyOf(idOf(1)),
        id: idOf(1),
        index: 0,
        entry_type: 'Command: Input',
        name: '',
        raw: Uint8Array.of(0x72, 4, 0x0a, 2, 1, 2),
        raw_length: 6,
        version: 2,
        entry_json: '{"Command":{"Input":{"headers":[],"payload":[1,2],"name":""}}}',
        entry_lite_json: '{"Command":{"Input":{}}}',
        appended_at: AT,
      },
    ]);
  });

  it('makes neither bytes nor JSON that nobody reads, and no JSON of large entries', async () => {
    const large: JournalSnapshot = {
      ...entry(1, 0),
      entry: {
        kind: 'input',
        headers: [],
        payload: new Uint8Array(1024 * 1024 + 1),
        appendedAt: AT,
      },
    };
    const tables = tablesWith({ journals: new Journals([large]) });
    const [few] = await cells(tables, 'sys_journal', { columns: ['id', 'entry_type'] });
    expect(few).not.toHaveProperty('raw_length');
    const columns = ['entry_json', 'entry_lite_json', 'raw_length'];
    const [row] = await cells(tables, 'sys_journal', { columns });
    expect(row).toMatchObject({ entry_lite_json: '{"Command":{"Input":{}}}' });
    expect(row).not.toHaveProperty('entry_json');
    expect(row).not.toHaveProperty('raw');
  });

  it('is read page by page, of one invocation or of all', async () => {
    const entries = Array.from({ length: 1500 }, (_, index) => entry(index < 1200 ? 1 : 2, index));
    const journals = new Journals(entries);
    const tables = tablesWith({ journals });
    expect(await scan(tables, 'sys_journal', { columns: [] })).toHaveLength(1500);
    expect(journals.asked.map(({ after }) => after?.index)).toEqual([undefined, 1023]);
    journals.asked.length = 0;
    const keys = { id: [idOf(1), idOf(2)] };
    expect(await scan(tables, 'sys_journal', { keys, columns: [] })).toHaveLength(1500);
    expect(journals.asked.map(({ id, after }) => [id, after?.index])).toEqual([
      [idOf(1), undefined],
      [idOf(1), 1023],
      [idOf(2), undefined],
    ]);
  });

  it('crosses in batches that are bounded by bytes', async () => {
    const large = Array.from({ length: 5 }, (_, index): JournalSnapshot => ({
      ...entry(1, index),
      entry: { kind: 'input', headers: [], payload: new Uint8Array(600_000), appendedAt: AT },
    }));
    const tables = tablesWith({ journals: new Journals(large) });
    const found = await batches(tables, 'sys_journal', { columns: ['raw'] });
    expect(found.map((batch) => batch.length)).toEqual([2, 2, 1]);
  });
});
