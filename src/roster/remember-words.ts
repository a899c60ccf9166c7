/** More than there are days of birth among the living. */
const maxRemembered = 45_000;
const maxLength = 40;

/** Gives a reader that looks up what it has read before; it must give the same value for the same text, and never undefined. */
export function rememberWords<Value>(read: (text: string) => Value): (text: string) => Value {
  const known = new Map<string, Value>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const value = read(text);
    if (text.length <= maxLength) {
      if (known.size >= maxRemembered) known.clear();
      known.set(copyText(text), value);
    }
    return value;
  };
}

/** A text cut out of a chunk of a file would keep the whole chunk in memory. */
function copyText(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}
