import { isIP } from 'node:net';

/** Whether a URL's host is this machine by its name; nothing is looked up. */
export const isLoopback = ({ hostname }: URL): boolean =>
  // Only of the schemes that it knows does a URL write its host in small letters.
  /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/i.test(hostname);

/** Whether what is sent to an address is encrypted on its way, or does not leave this machine. */
export const isSafeUrl = (url: URL): boolean =>
  url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url));

/**
 * Whether a request's `Host` is an IP literal, localhost or one of `names`: a page of another site can make its own name lead to this machine
 * (DNS rebinding), and no page can be served by an address. HTTP/1.0 has no `Host`, and no browser speaks it.
 */
export function isExpectedHost(host: string | undefined, names: readonly string[] = []): boolean {
  if (host === undefined || host === '') return true;
  const name = host.replace(/:\d*$/, '').toLowerCase().replace(/\.$/, '');
  const isLiteral = isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0;
  return isLiteral || name === 'localhost' || names.some((each) => each.toLowerCase() === name);
}
