import { isIP } from 'node:net';

/** Whether a URL's host is this machine by name; nothing is resolved. */
export const isLoopback = ({ hostname }: URL): boolean =>
  // A URL lowercases its host only for the schemes that it knows.
  /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/i.test(hostname);

/** Whether data to an address is encrypted, or does not leave this machine. */
export const isSafeUrl = (url: URL): boolean =>
  url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url));

/**
 * Whether the `Host` of a request is an IP literal, localhost or one of `names`. A page of another site can point its own name to this machine (DNS
 * rebinding), but no page is served by an address. HTTP/1.0 has no `Host`, and no browser uses it.
 */
export function isExpectedHost(host: string | undefined, names: readonly string[] = []): boolean {
  if (host === undefined || host === '') return true;
  const name = host.replace(/:\d*$/, '').toLowerCase().replace(/\.$/, '');
  const isLiteral = isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0;
  return isLiteral || name === 'localhost' || names.some((each) => each.toLowerCase() === name);
}
