import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { neutraliseFormula } from '../../../src/formulas.js';

const starters = ['=', '+', '-', '@', '＝', '＋', '－', '＠', '﹦', '﹢', '﹣', '﹫', '−'];
const spaces = ['', ' ', '\t', '\n', '\r\n', '\u0000', '\u00a0', '\u3000', '\ufeff', '\u200b', '\u202e', ' \t\n\u0000'];

describe('a formula in a cell is neutralised', () => {
  it.each(starters)('behind any white space before %s', (starter) => {
    for (const space of spaces) {
      const text = `${space}${starter}HYPERLINK("http://evil.example")`;
      expect(neutraliseFormula(text).startsWith("'")).toBe(true);
    }
  });

  it('after whatever a spreadsheet with another delimiter would take for the end of a cell', () => {
    expect(neutraliseFormula('Smith;=1+1')).toBe("Smith;'=1+1");
    expect(neutraliseFormula('Smith\t @SUM(A1)')).toBe("Smith\t '@SUM(A1)");
    expect(neutraliseFormula('Smith\r\n-1')).toBe("Smith\r\n'-1");
  });

  it('no cell under any of the usual delimiters begins with a formula', () => {
    const part = fc.constantFrom(...starters, ...spaces, ';', '|', 'a', '1', '"', "'");
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        for (const delimiter of [/[;\r\n]/, /[\t\r\n]/, /[|\r\n]/, /[\r\n]/]) {
          for (const cell of neutraliseFormula(parts.join('')).split(delimiter)) {
            expect(cell).not.toMatch(/^[\s\p{C}]*[=+\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b\u2212]/u);
          }
        }
      }),
    );
  });

  it('ordinary text is left as it is', () => {
    for (const text of ['', 'Anne-Marie', 'a=b', '007', 'O’Neill + Sons', 'يوسف', '王秀英', "'=quoted already"]) {
      expect(neutraliseFormula(text)).toBe(text);
    }
  });
});
