import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { listLanguages, readCountry, toCountryCode } from '../../../src/roster/country.js';

test.each([
  ['de', 'de'],
  [' DEU ', 'de'],
  ['Germany', 'de'],
  ['UK', 'gb'],
  ['Scotland', 'gb'],
  ['U.S.A.', 'us'],
  ['United States', 'us'],
  ['XK', 'xk'],
  ['XKX', 'xk'],
  ['Kosovo', 'xk'],
  ['Syria', 'sy'],
  ['Russia', 'ru'],
  ['South Korea', 'kr'],
  ['North Korea', 'kp'],
  ["Côte d'Ivoire", 'ci'],
  ['Cote d’Ivoire', 'ci'],
  ['Ivory Coast', 'ci'],
  ['Türkiye', 'tr'],
  ['Turkey', 'tr'],
  ['DR Congo', 'cd'],
  ['Democratic Republic of the Congo', 'cd'],
  ['Bosnia & Herzegovina', 'ba'],
  ['East Timor', 'tl'],
  ['Macau', 'mo'],
  ['Burma', 'mm'],
  ['Iran, Islamic Republic of', 'ir'],
  ['Iran (Islamic Republic of)', 'ir'],
  ['Venezuela, Bolivarian Republic of', 've'],
  ['Korea, Republic of', 'kr'],
  ["Korea, Democratic People's Republic of", 'kp'],
  ['Congo, The Democratic Republic of the', 'cd'],
  ['Congo', 'cg'],
  ['Viet Nam', 'vn'],
  ['St. Kitts & Nevis', 'kn'],
  ['Bosnia', 'ba'],
  ['Tanzania (United Republic of)', 'tz'],
  ['Moldova, Republic of', 'md'],
  ['The Bahamas', 'bs'],
  ['Palestine', 'ps'],
  ['Vatican', 'va'],
  ['Cape Verde', 'cv'],
  ['Netherlands', 'nl'],
  ['The Netherlands', 'nl'],
  ['Åland Islands', 'ax'],
])('%j is the country %s', (text, code) => {
  expect(toCountryCode(text)).toBe(code);
});

test.each(['', 'ZZ', 'Atlantis', 'USSR', '276', 'Deutschland'])('%j is no country', (text) => {
  expect(toCountryCode(text)).toBeNull();
});

test.each([
  ['Deutschland', 'de'],
  ['Österreich', 'at'],
  ['Россия', 'ru'],
  ['日本', 'jp'],
  ['भारत', 'in'],
  ['British', 'gb'],
  ['Papua New Guinean', 'pg'],
  ['German national', 'de'],
  ['NA', 'na'],
  ['EL', 'gr'],
  ['SU', 'suhh'],
  ['Yugoslavia', 'yucs'],
  ['Yugoslav', 'yucs'],
  ['CSK', 'cshh'],
  ['SCG', 'csxx'],
  ['CS', 'cshh csxx'],
  ['ZR', 'cd'],
  ['DDR', 'de'],
])('%j in any language, of any age, is %s', (text, codes) => {
  expect(readCountry(text, null)).toEqual({ codes: codes.split(' ') });
});

test.each([
  ['Kongo', 'ambiguous_country'],
  ['Congo', 'ambiguous_country'],
  ['Nga', 'ambiguous_country'],
  ['Korean', 'ambiguous_country'],
  ['Stateless', 'stateless'],
  ['unknown', 'says_unknown'],
  ['N/A', 'says_unknown'],
  ['Atlantis', 'unknown_country'],
])('%j is none for certain: %s', (text, why) => {
  expect(readCountry(text, null)).toEqual({ why });
});

test('no name of any language is read as another country than the one that it names there', () => {
  const require = createRequire(import.meta.url);
  const wrong: string[] = [];
  const doubtful = new Set<string>();
  for (const language of listLanguages()) {
    const { countries } = require(`i18n-iso-countries/langs/${language}.json`);
    for (const [code, names] of Object.entries<string | string[]>(countries)) {
      for (const name of [names].flat()) {
        const found = readCountry(name, null);
        if ('why' in found) doubtful.add(name);
        else if (found.codes.join() !== code.toLowerCase()) wrong.push(`${name} (${language})`);
      }
    }
  }
  expect(wrong).toEqual([]);
  expect(doubtful.size).toBeLessThan(20);
});

test('a language decides between two countries of one name, and codes are written in capitals there', () => {
  expect(readCountry('Kongo', 'no')).toEqual({ codes: ['cd'] });
  expect(readCountry('Kongo', 'is')).toEqual({ codes: ['cg'] });
  expect([readCountry('Nga', 'vi'), readCountry('NGA', 'vi')]).toEqual([{ codes: ['ru'] }, { codes: ['ng'] }]);
});
