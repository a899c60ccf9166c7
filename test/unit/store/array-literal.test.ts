import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseArrayLiteral, toArrayLiteral } from '../../../src/store/database/values.js';

describe('array literals', () => {
  it('bring back every array of strings and nulls', () => {
    const element = fc.option(
      fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('NULL', '', '"', '\\', '{}', 'a,b', '\n')),
    );
    fc.assert(
      fc.property(fc.array(element), (list) => {
        expect(parseArrayLiteral(toArrayLiteral(list))).toEqual(list);
      }),
    );
  });

  it('are read as the server writes them', () => {
    expect(parseArrayLiteral('{1,-2,NULL,"NULL","2024-01-01 00:00:00+00"}')).toEqual([
      '1',
      '-2',
      null,
      'NULL',
      '2024-01-01 00:00:00+00',
    ]);
  });

  it('of more dimensions or another shape are refused', () => {
    for (const literal of ['{{1},{2}}', '1', '{1', '{"a}', '[0:1]={1,2}', '{a"b"}', '{1,}']) {
      expect(() => parseArrayLiteral(literal), literal).toThrow('one-dimensional');
    }
  });
});
