import type { PartyType, RiskTier } from '../../vocabulary.js';
import { readCountry } from '../country.js';
import { type ColumnRole, isOtherDay, isOtherHeader, readHeader } from '../headers.js';
import { createDateReader } from '../read-date.js';

/** Words in daily use for what a customer is, in lower case. */
export const typeWords: Readonly<Record<PartyType, readonly string[]>> = {
  person:
    split(`person, individual, indiv, natural, natural person, private, private individual, private person, private customer, retail, consumer, p, i, ind, indv, np, nat,
    privat, privatperson, privatkunde, natürlich, natürliche person, einzelperson, mensch, personne physique, physique, pp, particulier, particulière, natuurlijk persoon, persona fisica, persona física, física,
    fisica, pf, pessoa física, particular, osoba fizyczna, fyzická osoba, fo, henkilö, yksityishenkilö, magánszemély, természetes személy, bireysel, gerçek kişi, şahıs, persoană fizică, fizička osoba, фл, физлицо,
    физическое лицо, физ. лицо, φυσικό πρόσωπο, 个人, 個人, 自然人, 개인, فرد, شخص طبيعي`),
  entity:
    split(`entity, organisation, organization, company, corporate, corporation, business, legal, legal entity, legal person, juridical, firm, trust, foundation, partnership, commercial,
    institution, association, charity, vessel, ship, aircraft, e, c, o, b, org, corp, le, lp, jur, erhverv, virksomhed, selskab, firma, firmakunde, unternehmen, gesellschaft, verein, stiftung, juristisch, juristische person, personne morale, morale, pm, entreprise,
    société, association, rechtspersoon, zakelijk, bedrijf, empresa, persona juridica, persona jurídica, jurídica, juridica, pj, pessoa jurídica, persona giuridica, giuridica, pg, azienda, società, företag, foretak, bedrift, bolag, juridisk person, yritys, osoba prawna, przedsiębiorstwo,
    právnická osoba, po, cég, vállalat, jogi személy, kurumsal, tüzel kişi, şirket, persoană juridică, pravna osoba, юл, юрлицо, юридическое лицо, юр. лицо, организация, компания, νομικό πρόσωπο, εταιρεία, 企业, 公司, 法人, 机构, 법인, شركة, شخص اعتباري, مؤسسة`),
};

/** How letters begin, in lower case: a column of these alone distinguishes no customers. */
export const salutations: Readonly<Record<PartyType, readonly string[]>> = {
  person:
    split(`mr, mr., mrs, mrs., ms, ms., miss, mister, dr, dr., prof, prof., sir, lady, herr, frau, herrn, herr dr., frau dr., m., mme, mme., mlle, monsieur, madame, sr, sr., sra, sra., señor, señora,
    don, doña, sig., sig.ra, sig, signor, signora, dott., hr, hr., fru, heer, mevrouw, dhr., mevr., dhr, mevr, pan, pani, bay, bayan, г-н, г-жа`),
  entity: split('firma, company, firm, sté, ste, société, messrs, m/s, fa., fa, spett.le, bedrijf, empresa, ditta'),
};

/** Words in daily use for how closely a customer is watched; numbers are left out, for who knows which end of them is high. */
export const tierWords: Readonly<Record<RiskTier, readonly string[]>> = {
  low: split(
    'low, l, simplified, niedrig, gering, lav, låg, laag, faible, bajo, basso, baixo, niskie, nízké, alacsony, düşük, низкий, green',
  ),
  medium: split(
    'medium, med, m, normal, standard, mittel, mellem, middels, medel, middel, gemiddeld, moyen, medio, médio, średnie, střední, közepes, orta, средний, amber, yellow',
  ),
  high: split(
    'high, h, enhanced, very high, hoch, erhöht, høj, høy, hög, hoog, élevé, alto, wysokie, vysoké, magas, yüksek, высокий, red',
  ),
};

function split(list: string): readonly string[] {
  return list.split(',').map((word) => word.trim());
}

/** Gives the word of ours that an own word stands for, or null. */
export function toWord<Word extends string>(
  words: Readonly<Record<Word, readonly string[]>>,
  own: string,
): Word | null {
  for (const word in words) if (words[word].includes(own.trim().toLowerCase())) return word;
  return null;
}

/** Gives the value map of a column's own words, and those that stand for none of ours. */
export function toValues<Word extends string>(
  words: Readonly<Record<Word, readonly string[]>>,
  own: readonly string[],
): { values: Record<string, Word>; unknown: string[] } {
  const values: Record<string, Word> = {};
  const unknown: string[] = [];
  for (const value of own) {
    const word = toWord(words, value);
    if (word === null) unknown.push(value);
    else values[value] = word;
  }
  return { values, unknown };
}

/** How a date format fits a column; years are those within which nine of ten dates lie, and the one in the middle. */
interface DateFit {
  format: string;
  share: number;
  firstYear: number;
  middleYear: number;
  lastYear: number;
}

/** What the values of a column look like; shares are of the values that are not empty. */
export interface ColumnProfile {
  header: string;
  /** What the header says, unless the values cannot be that. */
  role: ColumnRole | null;
  /** As of `readHeader`; 0 without a role. */
  strength: number;
  /** The header says nothing, not even that the column is about something else. */
  isOpen: boolean;
  /** One for each row that was looked at: trimmed, and at most 200 characters of it. */
  values: readonly string[];
  filled: number;
  /** Share of the rows that have a value. */
  filledShare: number;
  /** How many different values. */
  distinctShare: number;
  /** The different values, in lower case, where there are few; null otherwise. */
  words: readonly string[] | null;
  /** Share of values with letters and no digit. */
  letterShare: number;
  /** Share of values of several words of letters. */
  severalWordsShare: number;
  /** Share of values that could be the code of something: one word with a digit, no amount and no e-mail address. */
  codeShare: number;
  /** Of the values, in characters. */
  meanLength: number;
  /** Share of values that are countries. */
  countryShare: number;
  /** Each date format with the share of values that it reads, the best first; only those that read any. */
  dateFormats: readonly DateFit[];
}

/** What a profile reads of a cell: more says nothing more about what a column holds. */
const maxCellLength = 200;
const maxDateLength = 30;
const mostWords = 20;
const lookedUp = 30;
const isoFormat = 'yyyy-MM-dd';
const knownFormats = [
  isoFormat,
  'dd.MM.yyyy',
  'd.M.yyyy',
  'dd/MM/yyyy',
  'MM/dd/yyyy',
  'd/M/yyyy',
  'M/d/yyyy',
  'dd-MM-yyyy',
  'MM-dd-yyyy',
  'yyyy/MM/dd',
  'yyyy.MM.dd',
  'yyyyMMdd',
  'ddMMyyyy',
  'dd.MM.yy',
  'dd/MM/yy',
  'MM/dd/yy',
  'dd-MM-yy',
  'MM-dd-yy',
  'yy-MM-dd',
];
const readers = knownFormats.map((format) => ({ format, read: createDateReader([format]) }));
const latestYear = new Date().getFullYear();

/** Looks at a column's values, one for each row that was read; `name` is what of its header says what it holds. */
export function profileColumn(header: string, given: readonly string[], name = header): ColumnProfile {
  const values = given.map((value) => value.slice(0, maxCellLength).trim());
  const counts = new Map<string, number>();
  for (const value of values) if (value !== '') counts.set(value, (counts.get(value) ?? 0) + 1);
  const filled = values.length - values.filter((value) => value === '').length;
  const share = (isMeant: (value: string) => boolean): number => {
    let sum = 0;
    for (const [value, count] of counts) if (isMeant(value)) sum += count;
    return filled === 0 ? 0 : sum / filled;
  };
  const distinct = new Set([...counts.keys()].map((value) => value.toLowerCase()));
  const reading = readHeader(name);
  const dateFormats = findDateFormats(share);
  const letterShare = share((value) => /\p{L}/u.test(value) && !/\p{N}/u.test(value));
  const words = distinct.size > 0 && distinct.size <= mostWords ? [...distinct] : null;
  const role = reading === null ? null : toFittingRole(reading.role, letterShare, words);
  return {
    header,
    role,
    strength: role === null ? 0 : (reading?.strength ?? 0),
    isOpen: role === null && !isOtherHeader(name) && (dateFormats.length === 0 || !isOtherDay(name)),
    values,
    filled,
    filledShare: values.length === 0 ? 0 : filled / values.length,
    distinctShare: filled === 0 ? 0 : distinct.size / filled,
    words,
    letterShare,
    severalWordsShare: share((value) => /\p{L}[\p{L}\p{M}.'’-]*\s+[\p{L}]/u.test(value) && !/\d/.test(value)),
    codeShare: share(isCode),
    meanLength: values.reduce((sum, { length }) => sum + length, 0) / Math.max(filled, 1),
    countryShare: looksLikeCountries([...counts.keys()]) ? share(isCountryList) : 0,
    dateFormats,
  };
}

/** `Customer` and `Kunde` are the number in one export and the name in another; `Individual / Company` holds neither's name. */
function toFittingRole(role: ColumnRole, letterShare: number, words: readonly string[] | null): ColumnRole {
  const isOfTypes = words !== null && words.length > 1 && words.every((word) => toWord(typeWords, word) !== null);
  if (isOfTypes && (role === 'name' || role === 'last_name' || role === 'company')) return 'type';
  return role === 'id' && letterShare > 0.9 ? 'name' : role;
}

const decimal = /^[-+]?\d+([.,]\d+)+$/;

function isCode(value: string): boolean {
  return /\d/.test(value) && /^[\p{L}\p{N}][\p{L}\p{N}._/:#-]*$/u.test(value) && !decimal.test(value);
}

/** Names of countries are looked up in many languages, which would take long for values that are plainly something else. */
const looksLikeCountries = (values: readonly string[]): boolean =>
  values.slice(0, lookedUp).filter(isCountryList).length > Math.min(values.length, lookedUp) / 3;

/** A name that two languages read differently is one of a country nevertheless. */
const isCountry = (text: string): boolean => {
  const found = readCountry(text, null);
  return 'codes' in found || found.why === 'ambiguous_country' || found.why === 'stateless';
};

const isCountryList = (value: string): boolean =>
  !/\d/.test(value) && (isCountry(value) || value.split(/[;|,/]/).every(isCountry));

function findDateFormats(share: (isMeant: (value: string) => boolean) => number): ColumnProfile['dateFormats'] {
  if (share((value) => /\d/.test(value) && value.length <= maxDateLength) < 0.1) return [];
  const fits = readers.map(({ format, read }) => {
    const years: number[] = [];
    const found = share((value) => {
      const year = value.length > maxDateLength ? null : toYear(value, format, read);
      if (year !== null) years.push(year);
      return year !== null;
    });
    years.sort((one, other) => one - other);
    const [firstYear = 0, middleYear = 0, lastYear = 0] = [0.05, 0.5, 0.95].map(
      (place) => years[Math.floor(place * years.length)] ?? 0,
    );
    return { format, share: found, firstYear, middleYear, lastYear };
  });
  return fits.filter((fit) => fit.share > 0).toSorted((one, other) => other.share - one.share);
}

/** A number of eight digits is a date only in a year in which somebody may have been born; ISO dates are read whatever the format. */
function toYear(value: string, format: string, read: (text: string) => string | null): number | null {
  if (/^\d{4}(-\d\d(-\d\d)?)?$/.test(value) && format !== isoFormat) return null;
  const year = Number(read(value)?.slice(0, 4));
  return year >= 1850 && year <= latestYear + 50 ? year : null;
}
