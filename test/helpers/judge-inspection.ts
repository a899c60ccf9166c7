import type { RosterRow } from '../../src/roster/customer.js';
import type { FileInspection } from '../../src/roster/inspect/inspect-file.js';
import { readRoster } from '../../src/roster/read-roster.js';
import type { MadeExport, MeantRow } from './made-exports.js';

/** What is wrong with an inspection of a made file: the rows as the printed mapping reads them are compared with what was meant. */
export async function judgeInspection(
  { rows, isTypeKnown, damage }: MadeExport,
  { settings, guess }: FileInspection,
): Promise<readonly string[]> {
  const wrong: string[] = [];
  const doubts = guess.doubts.join('\n');
  if (damage === 'mojibake' && !/encod/i.test(doubts)) wrong.push('no doubt about letters');
  if (damage === 'half' && !/line \d+.*(UTF-8|windows-1252)/is.test(doubts)) wrong.push('no doubt about two encodings');
  if (!isTypeKnown && !/persons and entities/.test(doubts)) wrong.push('no doubt about types');
  if (settings === null) return [...wrong, 'nothing printed'];
  const read = await readAll(await readRoster(settings, () => undefined));
  const misses: Record<string, number> = {};
  for (const [index, meant] of rows.entries()) {
    const miss = findMiss(meant, read[index], { isTypeKnown, isGarbled: damage !== null });
    if (miss !== null) misses[miss] = (misses[miss] ?? 0) + 1;
  }
  for (const [miss, count] of Object.entries(misses)) {
    if (count > Math.max(1, rows.length / 50)) wrong.push(`${miss} (${count} of ${rows.length})`);
  }
  return wrong;
}

async function readAll({ rows }: Awaited<ReturnType<typeof readRoster>>): Promise<readonly RosterRow[]> {
  const all: RosterRow[] = [];
  for await (const batch of rows) all.push(...batch);
  return all;
}

function findMiss(
  meant: MeantRow,
  row: RosterRow | undefined,
  { isTypeKnown, isGarbled }: { isTypeKnown: boolean; isGarbled: boolean },
): string | null {
  if (row === undefined) return 'no row';
  // Garbled letters may be control characters.
  if (row.kind === 'rejected' && isGarbled && row.rejected.reason === 'control_character') return null;
  if (row.kind === 'rejected') return `rejected as ${row.rejected.reason}`;
  const [{ name, type, birthDate, countries }] = row.customer.parties;
  if (row.customer.reference !== meant.id) return 'another id';
  if (!isGarbled && toWords(name) !== toWords(meant.name)) return 'another name';
  if (isGarbled && toWords(name).length < 3) return 'no name';
  if (isTypeKnown && type !== meant.type) return 'another type';
  // A mark behind a date that follows from the pivot.
  if ((birthDate?.replace('?', '') ?? null) !== meant.birthDate)
    return birthDate === null ? 'no birth date' : 'another birth date';
  if (meant.countries.length > 0 && countries.length === 0) return 'no country';
  return countries.every((country) => meant.countries.includes(country)) ? null : 'another country';
}

/** The words of a name without those that some mappings leave out for good reason. */
const toWords = (name: string): string =>
  [...new Set(name.toLowerCase().split(/[\s,]+/))]
    .filter((word) => word !== '' && !/^(mr|mrs|dr\.?|prof\.?|van|de)$/.test(word))
    .sort()
    .join(' ');
