import { isSafeUrl } from '../../loopback.js';

/** What is wrong with a base URL, or undefined; clear text is allowed to this machine only. */
export const findBaseUrlProblem = (baseUrl: string): string | undefined => {
  if (!URL.canParse(baseUrl)) return 'is not a URL';
  const url = new URL(baseUrl);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must begin with https://';
  if (!isSafeUrl(url)) {
    return 'must begin with https:// (http:// is allowed to this machine only)';
  }
  if (url.username !== '' || url.password !== '') return 'must not hold credentials';
  if (url.search !== '' || url.hash !== '') return 'must not hold a query or a fragment';
  return undefined;
};
