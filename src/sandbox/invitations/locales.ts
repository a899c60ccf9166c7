const CODES = ['en', 'da', 'de', 'es', 'fr', 'it', 'nl', 'pl', 'pt-BR', 'sv', 'zh-Hans'];

/** An entry of the locale list (interface: Locale entry). */
export interface Locale {
  code: string;
  name: string;
}

const findLanguage = (acceptLanguage: string | undefined): string => {
  const wanted = acceptLanguage?.split(',')[0]?.split(';')[0]?.trim() ?? '';
  try {
    return Intl.DisplayNames.supportedLocalesOf(wanted)[0] ?? 'en';
  } catch {
    // A malformed tag is a RangeError there, and a request without a usable language here.
    return 'en';
  }
};

/** The locales with their names in the requester's language, else the upper-cased code (interface: Locale entry). */
export const listLocales = (acceptLanguage: string | undefined): Locale[] => {
  const names = new Intl.DisplayNames(findLanguage(acceptLanguage), { type: 'language', fallback: 'none' });
  return CODES.map((code) => ({ code, name: names.of(code) ?? code.toUpperCase() }));
};

/** Whether a code is one of the list. */
export const isLocale = (code: string): boolean => CODES.includes(code);
