import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { RosterError } from '../../src/errors.js';
import { type RosterSettings, rosterSettingsSchema } from '../../src/roster/settings.js';
import { runImport } from '../../src/runs/import/import-run.js';
import type { Database } from '../../src/store/database/database.js';
import { acceptChanges, makeAcceptance } from '../helpers/accept-changes.js';
import { makeWorkplace } from '../helpers/workplace.js';
import type { MadeRoster, MeantCustomer } from './made-rosters.js';

/** What became of a roster of known truth. */
export interface PlayedRoster {
  title: string;
  /** The code under which the whole file was refused; null where it was read. */
  refused: string | null;
  /** Rows that the file has, the most that they may be taken for, and what the import made of them. */
  meant: number;
  mostMeant: number;
  rows: number;
  customers: number;
  rejected: number;
  duplicates: number;
  /** Parties that are searched for and are none of those that the rows of their id mean, one after the other. */
  wrong: readonly string[];
  /** Customers of sound rows, and those among them who are searched for. */
  sound: number;
  searched: number;
  /** The first who are not. */
  missed: readonly string[];
}

const searchedShape = z.object({
  reference: z.string(),
  name: z.string(),
  type: z.enum(['person', 'entity']),
  birthDate: z.string().nullable(),
  countries: z.array(z.string()),
});
type Searched = z.infer<typeof searchedShape>;

/** Imports a roster whole, guards overruled, and compares who is searched for with what its rows mean. */
export async function playRoster(database: Database, made: MadeRoster): Promise<PlayedRoster> {
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-made-'));
  try {
    const path = join(folder, made.file);
    await writeFile(path, made.bytes);
    return await playFile(database, made, path);
  } finally {
    await rm(folder, { recursive: true });
  }
}

let played = 0;

/** The same for a file that lies somewhere. */
export async function playFile(
  database: Database,
  made: Omit<MadeRoster, 'bytes' | 'file'>,
  path: string,
): Promise<PlayedRoster> {
  played += 1;
  const { title, csv, columns } = made;
  const roster = rosterSettingsSchema.parse({ name: `roster ${played}`, csv: { ...csv, path }, columns });
  const further = made.rows.reduce((sum, { isSound, lines = 1 }) => sum + (isSound ? 0 : lines - 1), 0);
  const meant = made.rows.length;
  const nothing = {
    refused: null,
    meant,
    mostMeant: meant + further,
    rows: 0,
    customers: 0,
    rejected: 0,
    duplicates: 0,
  };
  try {
    const counts = await importRoster(database, roster);
    return { title, ...nothing, ...counts, ...compare(made, await readSearched(database, roster.name)) };
  } catch (error) {
    if (!(error instanceof RosterError)) throw error;
    return { title, ...nothing, refused: error.code, ...compare(made, []) };
  }
}

async function importRoster(database: Database, roster: RosterSettings) {
  const workplace = await makeWorkplace(database, { url: 'http://127.0.0.1:9', privateKey: 'private_test_nobody' });
  try {
    await acceptChanges(workplace);
    const acceptRoster = await makeAcceptance({ database });
    const { counts } = await runImport(workplace, roster, new AbortController().signal, { acceptRoster });
    if (!('rows' in counts)) throw new Error('no roster was imported');
    const { rows, customers, rejected, duplicates } = counts;
    return { rows, customers, rejected, duplicates };
  } finally {
    await workplace.client().close();
  }
}

const readSearched = (database: Database, roster: string): Promise<readonly Searched[]> =>
  database.query(
    searchedShape,
    `select customer.reference, party.facts ->> 'name' as name, party.facts ->> 'type' as type,
       party.facts ->> 'birthDate' as "birthDate", party.facts -> 'countries' as countries
     from (
       select customer_id, version.record -> 'parties' -> party.ordinal::integer as facts
       from customer join party using (customer_id) join customer_version version using (customer_id, version)
       where party.is_current
     ) party
     join customer using (customer_id) join roster using (roster_id)
     where roster.name = $1`,
    [roster],
  );

type Compared = Pick<PlayedRoster, 'wrong' | 'sound' | 'searched' | 'missed'>;

function compare({ rows }: Pick<MadeRoster, 'rows'>, searched: readonly Searched[]): Compared {
  const meant = new Map<string, Set<string>>();
  for (const { meant: customer } of rows) {
    if (customer === null) continue;
    const known = meant.get(customer.id) ?? new Set();
    meant.set(customer.id, known.add(describe(customer)));
  }
  const found = searched.map(({ reference: id, ...facts }) => ({ id, text: describe({ id, ...facts }) }));
  const wrong = found.filter(({ id, text }) => meant.get(id)?.has(text) !== true);
  const all = new Set(found.map(({ text }) => text));
  const sound = [...new Set(rows.flatMap(({ meant, isSound }) => (meant && isSound ? [describe(meant)] : [])))];
  const missed = sound.filter((text) => !all.has(text));
  return {
    wrong: wrong.map(({ text }) => text),
    sound: sound.length,
    searched: sound.length - missed.length,
    missed: missed.slice(0, 5),
  };
}

/** A customer as one line; blanks within a name are one. */
const describe = ({ id, type, name, birthDate, countries }: MeantCustomer): string =>
  [id, type, name.replace(/\s+/g, ' ').trim().normalize('NFC'), birthDate ?? '-', countries.toSorted().join('+')].join(
    ' | ',
  );

/** What is wrong with what became of a roster. */
export function listFaults(played: PlayedRoster, mayRefuse: string | undefined): string[] {
  const { refused, meant, mostMeant, rows, customers, rejected, duplicates, wrong, sound, searched, missed } = played;
  if (refused !== null) return refused === mayRefuse ? [] : [`refused: ${refused}`];
  return [
    ...(rows >= meant && rows <= mostMeant ? [] : [`${meant} rows are meant, ${rows} were read`]),
    ...(rows === customers + rejected + duplicates ? [] : ['the sum does not hold']),
    ...wrong.slice(0, 5).map((text) => `wrong: ${text}`),
    ...(searched === sound ? [] : missed.map((text) => `not searched: ${text}`)),
  ];
}
