/** `FAMILY, Given` as people write it: `Given FAMILY`; a name without a comma, or with several, stays as it is. */
export function toNaturalOrder(name: string): string {
  const [family = '', given, ...others] = name.split(',').map((part) => part.trim());
  return given === undefined || given === '' || others.length > 0 ? name : `${given} ${family}`;
}
