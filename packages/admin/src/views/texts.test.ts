import { describe, expect, it } from '@jest/globals';
import { durationText, inputText, outputText, timestampText } from './texts.js';

const json = 'application/json';

describe('durations', () => {
  it.each([
    [86_400_000, '1day', '1d'],
    [7 * 86_400_000, '7days', '7d'],
    [90_000_000, '1day 1h', '1d 1h'],
    [5_400_000, '1h 30m', '1h 30m'],
    [0, '0s', '0s'],
  ])('%i ms', (ms, long, short) => {
    expect([durationText(ms, 'interface'), durationText(ms, 'short')]).toEqual([long, short]);
  });
});

describe('timestamps', () => {
  it('have nine fraction digits or none', () => {
    expect(timestampText(Date.UTC(2026, 10, 20, 1, 2, 3, 906))).toBe(
      '2026-11-20T01:02:03.906000000Z',
    );
    expect(timestampText(Date.UTC(2026, 10, 20, 1, 2, 3))).toBe('2026-11-20T01:02:03Z');
  });
});

describe('descriptions of input', () => {
  it.each([
    [undefined, '', '*/*'],
    [{ required: false, contentType: undefined, jsonSchema: undefined }, 'none', 'none'],
    [
      { required: true, contentType: undefined, jsonSchema: undefined },
      'nothing',
      '<invalid rules>',
    ],
    [
      { required: true, contentType: json, jsonSchema: undefined },
      `value of content-type ${json}`,
      json,
    ],
    [
      { required: false, contentType: json, jsonSchema: undefined },
      `one of [none, value of content-type ${json}]`,
      json,
    ],
    [
      { required: true, contentType: json, jsonSchema: { title: 'T', type: 'object' } },
      `value of content-type ${json}`,
      "JSON 'T'",
    ],
    [
      { required: true, contentType: json, jsonSchema: { type: 'string' } },
      `value of content-type ${json}`,
      'JSON string',
    ],
    [
      { required: true, contentType: json, jsonSchema: true },
      `value of content-type ${json}`,
      json,
    ],
  ])('%j', (input, long, short) => {
    expect([inputText(input, 'interface'), inputText(input, 'short')]).toEqual([long, short]);
  });
});

describe('descriptions of output', () => {
  it.each([
    [undefined, '', json],
    [
      { contentType: undefined, setContentTypeIfEmpty: false, jsonSchema: undefined },
      'none',
      'none',
    ],
    [
      { contentType: json, setContentTypeIfEmpty: false, jsonSchema: undefined },
      `value of content-type ${json}`,
      json,
    ],
    [
      { contentType: json, setContentTypeIfEmpty: true, jsonSchema: undefined },
      `optional value of content-type ${json}`,
      `optional ${json}`,
    ],
  ])('%j', (output, long, short) => {
    expect([outputText(output, 'interface'), outputText(output, 'short')]).toEqual([long, short]);
  });
});
