import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NightscreenError } from '../../src/errors.js';
import { type RosterSettings, rosterSettingsSchema } from '../../src/roster/settings.js';
import { runImport } from '../../src/runs/rosters/import-run.js';
import { previewImport } from '../../src/runs/rosters/preview-import.js';
import { acceptChanges } from '../helpers/accept-changes.js';
import { testDatabases } from '../helpers/databases.js';
import { printFigure } from '../helpers/print-figure.js';
import { brokenChanges, ordinaryChanges, type RosterChange } from '../helpers/roster-changes.js';
import { makeRosterWorld, writeRosterWorld } from '../helpers/roster-world.js';
import { makeWorkplace } from '../helpers/workplace.js';

const { open } = testDatabases('postgres');
const { signal } = new AbortController();
const dayMs = 86_400_000;
const where = { url: 'http://127.0.0.1:9', privateKey: 'private_test_nobody' };

/** What became of each change of a roster that was imported the night before: the guards or the error that held it, none where it passed. */
async function playChanges(customers: number, changes: Readonly<Record<string, RosterChange>>) {
  const database = await open();
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-changes-'));
  const settings: RosterSettings = rosterSettingsSchema.parse({
    name: 'people',
    csv: { path: join(folder, 'roster.csv') },
    columns: { active: { column: 'status', values: { open: true, closed: false } } },
    parties: [{ csv: { path: join(folder, 'parties.csv') } }],
  });
  const write = async (change: RosterChange): Promise<void> => {
    const world = makeRosterWorld(customers, 20_261_123);
    change(world);
    const { roster, parties } = writeRosterWorld(world);
    await writeFile(join(folder, 'roster.csv'), roster);
    await writeFile(join(folder, 'parties.csv'), parties);
  };
  const toWorkplace = async (offsetMs: number) => {
    const workplace = await makeWorkplace(database, where, { offsetMs });
    workplace.settings.service.mode = 'live';
    return workplace;
  };
  const before = await toWorkplace(-dayMs);
  await write(() => undefined);
  await acceptChanges(before);
  await runImport(before, settings, signal);
  const tonight = await toWorkplace(0);
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

describe.each([3_000, 300])('a roster of %i customers', (customers) => {
  it('passes 50 ordinary changes from one night to the next', async () => {
    const outcomes = await playChanges(customers, ordinaryChanges);
    expect(outcomes.size).toBe(50);
    expect(print(`ordinary changes of ${customers} customers`, outcomes)).toBeLessThanOrEqual(50);
  });

  it('is held, or refused, at 50 broken ones', async () => {
    const outcomes = await playChanges(customers, brokenChanges);
    expect(outcomes.size).toBe(50);
    expect(print(`broken changes of ${customers} customers`, outcomes)).toBeGreaterThanOrEqual(0);
  });
});
