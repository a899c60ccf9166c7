/** A credential as it was presented. */
export interface PresentedKey {
  key: string;
  scheme: 'basic' | 'bearer';
}

/**
 * Reads the key out of an `Authorization` header: the user name of HTTP Basic with an empty password, or a Bearer
 * token (interface: Authentication 1); undefined when there is none or it is malformed.
 */
export const readPresentedKey = (header: string | undefined): PresentedKey | undefined => {
  const [, scheme = '', credentials = ''] = /^(\S+) +(\S+)$/.exec(header?.trim() ?? '') ?? [];
  if (scheme.toLowerCase() === 'bearer') return { key: credentials, scheme: 'bearer' };
  if (scheme.toLowerCase() !== 'basic') return undefined;
  const [userName = '', password, ...rest] = Buffer.from(credentials, 'base64').toString('utf8').split(':');
  return password === '' && rest.length === 0 && userName !== '' ? { key: userName, scheme: 'basic' } : undefined;
};
