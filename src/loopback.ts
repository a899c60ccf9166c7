/** Whether a URL's host is this machine by name; nothing is resolved. */
export const isLoopback = ({ hostname }: Pick<URL, 'hostname'>): boolean =>
  // A URL lowercases its host only for the schemes that it knows.
  /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/i.test(hostname);

/** Whether data to an address is encrypted, or does not leave this machine. */
export const isSafeUrl = (url: URL): boolean =>
  url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url));
