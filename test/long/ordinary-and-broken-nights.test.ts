import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { NightscreenError } from '../../src/errors.js';
import { type RosterSettings, rosterSettingsSchema } from '../../src/roster/settings.js';
import { runImport } from '../../src/runs/import/import-run.js';
import { previewImport } from '../../src/runs/preview.js';
import { testDatabases } from '../helpers/databases.js';
import { isFullSize, printFigure } from '../helpers/figures.js';
import {
  brokenChanges,
  type Fields,
  makeRosterWorld,
  ordinaryChanges,
  type RosterChange,
  writeRosterWorld,
} from '../helpers/roster-changes.js';
import { acceptChanges } from '../helpers/small-site.js';
import { makeAppContext } from '../helpers/small-world.js';

const { open } = testDatabases('postgres');
const { signal } = new AbortController();
const dayMs = 86_400_000;
const where = { url: 'http://127.0.0.1:9', privateKey: 'private_test_nobody' };

interface RosterKind {
  customers: number;
  seed: number;
  /** Persons of a real roster in place of made ones. */
  people?: () => Promise<Fields[]>;
  /** How many of the 50 broken changes are held at least. */
  held: number;
}

const data = process.env['NIGHTSCREEN_TEST_DATA'];
const personRow = z.object({ full_name: z.string(), date_of_birth: z.string(), nationality: z.string() });

async function readPeople(): Promise<Fields[]> {
  const text = await readFile(join(data ?? '', 'rosters/negatives_us.csv'), 'utf8');
  const rows = z.array(personRow).parse(parse(text, { columns: true, to: 3_000 }));
  return rows.map((row) => ({ name: row.full_name, birth_date: row.date_of_birth, countries: row.nationality }));
}

/** What became of each change of a roster that was imported the night before: the guards or the error that held it, none where it passed. */
async function playChanges({ customers, seed, people }: RosterKind, changes: Readonly<Record<string, RosterChange>>) {
  const database = await open();
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-changes-'));
  const settings: RosterSettings = rosterSettingsSchema.parse({
    name: 'people',
    csv: { path: join(folder, 'roster.csv') },
    columns: { active: { column: 'status', values: { open: true, closed: false } } },
    parties: [{ csv: { path: join(folder, 'parties.csv') } }],
  });
  const known = await people?.();
  const write = async (change: RosterChange): Promise<void> => {
    const world = makeRosterWorld(customers, seed, known);
    change(world);
    const { roster, parties } = writeRosterWorld(world);
    await writeFile(join(folder, 'roster.csv'), roster);
    await writeFile(join(folder, 'parties.csv'), parties);
  };
  const toAppContext = async (offsetMs: number) => {
    const app = await makeAppContext(database, where, { offsetMs });
    app.settings.service.mode = 'live';
    return app;
  };
  const before = await toAppContext(-dayMs);
  await write(() => undefined);
  await acceptChanges(before);
  await runImport(before, settings, signal);
  const tonight = await toAppContext(0);
  const outcomes = new Map<string, readonly string[]>();
  for (const [name, change] of Object.entries(changes)) {
    await write(change);
    const outcome = await previewImport(tonight, settings, signal).then(
      ({ heldBy }) => heldBy.map(({ guard }) => guard),
      (error: unknown) => {
        if (error instanceof NightscreenError) return [`refused: ${error.code}`];
        throw error;
      },
    );
    outcomes.set(name, outcome);
  }
  return outcomes;
}

function print(title: string, outcomes: ReadonlyMap<string, readonly string[]>): number {
  const held = [...outcomes.values()].filter((guards) => guards.length > 0).length;
  const lines = [...outcomes].map(([name, guards]) => `  ${name}: ${guards.join(', ') || 'passed'}`);
  printFigure(`${title}: ${held} of ${outcomes.size} held\n${lines.join('\n')}`);
  return held;
}

const real: RosterKind = { customers: isFullSize ? 2_000 : 1_000, seed: 7, people: readPeople, held: 50 };
const kinds: Readonly<Record<string, RosterKind>> = {
  ...(data === undefined || isFullSize
    ? { '3,000 made customers': { customers: 3_000, seed: 20_261_123, held: 50 } }
    : {}),
  // Two or three customers and a roster that more than doubles are let through in a small one, by its settings.
  '300 made customers': { customers: 300, seed: 20_261_123, held: 47 },
  ...(data === undefined ? {} : { [`${real.customers} customers, most of a real roster`]: real }),
};

describe.each(Object.entries(kinds))('a roster of %s', { timeout: 600_000 }, (title, kind) => {
  it('passes 50 ordinary changes from one night to the next', async () => {
    const outcomes = await playChanges(kind, ordinaryChanges);
    expect(outcomes.size).toBe(50);
    expect(print(`ordinary changes of ${title}`, outcomes)).toBe(0);
  });

  it('is held, or refused, at broken ones', async () => {
    const outcomes = await playChanges(kind, brokenChanges);
    expect(outcomes.size).toBe(50);
    expect(print(`broken changes of ${title}`, outcomes)).toBeGreaterThanOrEqual(kind.held);
  });
});
