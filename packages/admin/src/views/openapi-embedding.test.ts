import { describe, expect, it } from '@jest/globals';
import { embedSchema } from './openapi-embedding.js';

const HOME = '#/components/schemas/goRequest';

describe('embedding a JSON schema', () => {
  it.each([
    ['the root', { $ref: '#' }, { $ref: HOME }],
    ['a definition', { $ref: '#/$defs/A' }, { $ref: `${HOME}/$defs/A` }],
    ['an anchor', { $ref: '#a', $anchor: 'a' }, { $ref: '#a', $anchor: 'a' }],
    ['from a list', { anyOf: [{ $ref: '#/$defs/A' }] }, { anyOf: [{ $ref: `${HOME}/$defs/A` }] }],
    ['dynamic', { $dynamicRef: '#/$defs/A' }, { $dynamicRef: `${HOME}/$defs/A` }],
  ])('moves references: %s', (_what, schema, expected) => {
    expect(embedSchema(schema, HOME)).toEqual(expected);
  });

  it('takes away ids, and lets references count from where the nearest one stood', () => {
    const schema = {
      $id: 'https://example.com/a',
      items: { $ref: '#/$defs/b~c' },
      $defs: { 'b/c': { $id: 'b', $defs: { d: {} }, properties: { d: { $ref: '#/$defs/d' } } } },
    };
    expect(embedSchema(schema, HOME)).toEqual({
      items: { $ref: `${HOME}/$defs/b~c` },
      $defs: {
        'b/c': { $defs: { d: {} }, properties: { d: { $ref: `${HOME}/$defs/b~1c/$defs/d` } } },
      },
    });
  });

  it.each([
    ['data', { enum: [{ $ref: '#' }], default: { $id: 'x', $ref: '#/a' } }],
    ['members that are called like keywords', { properties: { $ref: {}, default: {}, $id: {} } }],
    ['boolean schemas', true],
    ['anchors in the old way', { $id: '#a', allOf: [{ $ref: '#a' }] }],
  ])('keeps %s', (_what, schema) => {
    expect(embedSchema(schema, HOME)).toEqual(schema);
  });

  it('treats a member called default as the schema it is', () => {
    expect(embedSchema({ properties: { default: { $ref: '#' } } }, HOME)).toEqual({
      properties: { default: { $ref: HOME } },
    });
  });
});
