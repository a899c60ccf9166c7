/** Whether a URL's host is this machine by its name; nothing is looked up. */
export const isLoopback = ({ hostname }: URL): boolean =>
  // Only of the schemes that it knows does a URL write its host in small letters.
  /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/i.test(hostname);

/** Whether what is sent to an address is encrypted on its way, or does not leave this machine. */
export const isSafeUrl = (url: URL): boolean =>
  url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url));
