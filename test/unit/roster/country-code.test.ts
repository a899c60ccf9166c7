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

test.each([
  [
    'fr',
    'États-Unis us, Etats-Unis us, Fédération de Russie ru, Grande-Bretagne gb, Angleterre gb, Écosse gb, RDC cd, Congo (RDC) cd, Birmanie mm',
  ],
  [
    'fr',
    'Tchéquie cz, Macédoine mk, Confédération suisse ch, Principauté de Monaco mc, ROYAUME-UNI gb, Pays-Bas nl, Corée du Nord kp, RFA de',
  ],
  [
    'de',
    'Vereinigte Staaten us, Russische Föderation ru, Großbritannien gb, Weißrussland by, Tschechien cz, Elfenbeinküste ci, VAE ae',
  ],
  [
    'it',
    'Stati Uniti us, Federazione Russa ru, Inghilterra gb, Gran Bretagna gb, Repubblica Ceca cz, Olanda nl, Città del Vaticano va',
  ],
  [
    'es',
    'Estados Unidos us, EE.UU. us, Inglaterra gb, Birmania mm, República Checa cz, Países Bajos nl, Corea del Norte kp',
  ],
  ['nl', 'Verenigde Staten us, Groot-Brittannië gb, Wit-Rusland by, Tsjechië cz, Ivoorkust ci, Zwitserland ch'],
  [
    'pl',
    'Stany Zjednoczone us, Wielka Brytania gb, Anglia gb, Federacja Rosyjska ru, Czechy cz, Holandia nl, Białoruś by',
  ],
  [
    'pt',
    'Estados Unidos us, Grã-Bretanha gb, Bielorrússia by, Tchéquia cz, República Tcheca cz, Holanda nl, Países Baixos nl',
  ],
])('common names in %s are read, with that language configured and without: %s', (language, pairs) => {
  const wrong = pairs.split(', ').flatMap((pair) => {
    const [name, code] = [pair.slice(0, -3), pair.slice(-2)];
    return [null, language]
      .filter((each) => JSON.stringify(readCountry(name, each)) !== `{"codes":["${code}"]}`)
      .map((each) => `${name} ${each}`);
  });
  expect(wrong).toEqual([]);
});

test.each(['Corée', 'Corea', 'Congo', 'F', 'D', 'Amérique', 'Guinées'])(
  '%j may be several countries, or none, and stays unknown',
  (name) => {
    for (const language of [null, 'fr']) expect(readCountry(name, language)).toHaveProperty('why');
  },
);
