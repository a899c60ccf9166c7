import { createRequire } from 'node:module';
import countries from 'i18n-iso-countries';

// The package ships its names as JSON only; require reads them without an import attribute.
const require = createRequire(import.meta.url);
countries.registerLocale(require('i18n-iso-countries/langs/en.json'));

const SPELLINGS: Record<string, string> = {
  "democratic people's republic of korea": 'kp',
  'korea, north': 'kp',
  'korea, south': 'kr',
  'united kingdom of great britain and northern ireland': 'gb',
  'iran (islamic republic of)': 'ir',
  'syrian arab republic': 'sy',
  'state of palestine': 'ps',
  palestinian: 'ps',
  'west bank': 'ps',
  'united republic of tanzania': 'tz',
  'congo, democratic republic of the': 'cd',
  'congo, republic of the': 'cg',
  burma: 'mm',
  'cote d ivoire': 'ci',
  'the gambia': 'gm',
  'bosnia and herzegovina': 'ba',
  turkiye: 'tr',
  türkiye: 'tr',
  kosovo: 'xk',
};

/** The lower-case alpha-2 code of an English country name, or undefined when it is not known. */
export const toCountryCode = (name: string): string | undefined => {
  const plain = name.trim();
  const known = SPELLINGS[plain.toLowerCase()];
  return known ?? countries.getAlpha2Code(plain, 'en')?.toLowerCase();
};
