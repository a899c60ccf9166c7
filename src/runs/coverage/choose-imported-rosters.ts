import { ConfigError } from '../../errors.js';

/** The roster of this name among those that were imported, or all of them; throws ConfigError when there is none of this name. */
export function chooseImportedRosters<Row extends { roster: string }>(
  imported: readonly Row[],
  name: string | undefined,
): readonly Row[] {
  if (name === undefined) return imported;
  const found = imported.filter(({ roster }) => roster === name);
  if (found.length > 0) return found;
  const names = imported.map(({ roster }) => roster);
  const advice = names.length === 0 ? 'none was' : `there are: ${names.join(', ')}`;
  const message = `no roster ${name} was ever imported; ${advice}`;
  throw new ConfigError([{ where: 'flag --roster', path: '', message }]);
}
