import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Party, toScreeningRequest } from '../../../src/roster/customer.js';

function toRequest(name: string, type: Party['type'] = 'person') {
  return toScreeningRequest({ role: 'customer', type, name, birthDate: null, countries: [] });
}

const sent = (name: string): string => toRequest(name).name;

test.each([
  ['plain ASCII', 'Ann Lee', 'Ann Lee'],
  ['white space of every kind', '\u00a0Ann \t\u3000\u2009 Lee\r\n', 'Ann Lee'],
  ['a decomposed accent', 'Jose\u0301', 'José'],
  ['case, punctuation and titles', "Dr. O'NEIL-smith, jr.", "Dr. O'NEIL-smith, jr."],
  ['zero-width space, word joiner, byte order mark', 'A\u200bn\u2060n\ufeff', 'Ann'],
  ['direction marks', '\u202bعلي\u202c \u200fحسن\u2069', 'علي حسن'],
  ['a soft hyphen', 'Schmidt\u00adbauer', 'Schmidtbauer'],
  ['a grapheme joiner between a letter and its accent', 'Jose\u034f\u0301', 'José'],
  ['variation selectors, tags and fillers', 'A\ufe0fn\u{e0041}n\u3164 \u115fLee\u{e0100}', 'Ann Lee'],
  ['marks of annotations and the Mongolian vowel separator', '\ufff9Ann\ufffa\ufffb L\u180eee', 'Ann Lee'],
  ['a joiner between Latin letters', 'A\u200dn\u200cn', 'Ann'],
  ['a joiner at either end', '\u200cعلی\u200c', 'علی'],
  ['a joiner that another one parts from its virama', '\u0301\u200c\u0dca\u200d', '\u0dca\u0301'],
  ['a joiner between words', 'علی\u200c رضا', 'علی رضا'],
])('%s: %j is sent as %j', (_, name, expected) => {
  expect(sent(name)).toBe(expected);
});

test.each([
  ['the Persian half space', 'علی\u200cرضا'],
  ['the Sinhala conjunct', 'ශ්\u200dරී ලංකා'],
  ['the Bengali ya behind a joined ra', 'র\u200d্যাব'],
  ['the older Malayalam final n', 'രാജന്\u200d'],
  ['the Devanagari half form', 'क्\u200dष'],
])('%s is spelling and is kept', (_, name) => {
  expect(sent(name)).toBe(name);
});

const letters = fc.constantFrom(
  ...'aeßİ \u0301\u0327\u034f\u00a0\u200b\u200c\u200d\u200e\u00ad\ufeff',
  ...'عی\u064eक\u094d\u093cශ\u0dcaরന\u0d4d각\u1100\u1161李',
);
const names = fc.array(letters, { maxLength: 12 }).map((parts) => parts.join(''));

test('what is sent does not change when it is normalised again', () => {
  fc.assert(
    fc.property(fc.oneof(names, fc.string({ unit: 'binary' })), (name) => {
      expect(sent(sent(name))).toBe(sent(name));
    }),
  );
});

test('canonically equal names are the same search', () => {
  fc.assert(
    fc.property(fc.oneof(names, fc.string({ unit: 'binary' })), (name) => {
      expect(sent(name.normalize('NFD'))).toBe(sent(name));
      expect(toRequest(name.normalize('NFD'))).toEqual(toRequest(name));
      expect(toRequest(sent(name))).toEqual(toRequest(name));
    }),
  );
});

test('two requests are the same only when type and sent name are the same', () => {
  fc.assert(
    fc.property(names, names, (left, right) => {
      const isSame = JSON.stringify(toRequest(left)) === JSON.stringify(toRequest(right));
      expect(isSame).toBe(sent(left) === sent(right));
      expect(toRequest(left)).not.toEqual(toRequest(left, 'entity'));
    }),
  );
});

test('a plain name is sent as it would be were it looked at letter by letter', () => {
  for (let code = 0x21; code <= 0x24f; code += 1) {
    const name = `A${String.fromCodePoint(code)}b c`;
    // White space at the end has to be looked at.
    expect(sent(name)).toBe(sent(`${name} `));
  }
});
