import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { expect, it } from 'vitest';
import { z } from 'zod';
import type { Match } from '../../src/matches/match.js';
import { type RosterSettings, toFileRoster } from '../../src/roster/settings.js';
import { createSeededRandom, varyName } from '../../src/runs/checks/sample.js';
import { showRun } from '../../src/runs/run-reference.js';
import { runScreening } from '../../src/runs/screening-run.js';
import type { SearchResult } from '../../src/sandbox/search-watchlist.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.js';
import { loadWorld, type WatchlistEntry } from '../../src/sandbox/world.js';
import type { Database } from '../../src/store/database/database.js';
import { testDatabases } from '../helpers/databases.js';
import { isFullSize, printFigure } from '../helpers/figures.js';
import {
  type AskedCustomer,
  type ExpectedChange,
  expectChanges,
  type ListVariant,
  makeListVariants,
} from '../helpers/list-variants.js';
import { makeAppContext, neverHeld } from '../helpers/small-world.js';

const data = process.env['NIGHTSCREEN_TEST_DATA'] ?? '';
const dayMs = 24 * 60 * 60 * 1_000;
const listedCustomers = isFullSize ? 400 : 120;
const cleanCustomers = isFullSize ? 200 : 30;
const databases = testDatabases('postgres');

it('variants of the real OFAC list give exactly the changes that were made to it, and another order none', {
  timeout: 300_000,
}, async (context) => {
  context.skip(data === '', 'NIGHTSCREEN_TEST_DATA names no folder with the real lists');
  const { watchlist } = await loadWorld({ watchlists: [join(data, 'watchlists/ofac')] });
  const customers = await drawCustomers(watchlist, createSeededRandom('customers of the variants'));
  const variants = makeListVariants(watchlist, createSeededRandom('variants of the list'));
  const roster = toFileRoster('all', await writeCustomers(customers));
  const sandbox = await startSandbox({ world: { watchlist: [], dossiers: [] }, maxResults: 1_000 });
  const database = await databases.open();
  try {
    for (const [turn, variant] of variants.entries()) {
      const expected = expectChanges(customers, variant.nights);
      const found = await screenNights(database, sandbox, { ...roster, name: `variant-${turn}` }, variant, turn);
      expect(found.map(sortLines), variant.title).toEqual(expected.map((night) => sortLines(night.map(toLine))));
      const all = expected.flat();
      printFigure(
        `OFAC list, ${variant.meddled} of ${watchlist.length} entries ${variant.title}: ` +
          `${all.length} changes for ${customers.length} customers, all reported and no other${describeKinds(all)}`,
      );
      expect(new Set(all.map(({ kind }) => kind))).toEqual(new Set(kindsOf[variant.title]));
    }
  } finally {
    await sandbox.close();
  }
});

const kindsOf: Readonly<Record<string, readonly string[]>> = {
  removed: ['match_removed'],
  added: ['match_added'],
  renamed: ['match_added', 'match_changed', 'match_removed', 'hit_gained', 'hit_lost'],
  'given a topic': ['match_changed'],
  'given a new id': ['match_rekeyed'],
  'put in another order': [],
  'removed and put back': ['match_removed', 'match_returned'],
};

/** Listed people and companies under their names, aliases and slips of either, and people who are on no list. */
async function drawCustomers(
  watchlist: readonly WatchlistEntry[],
  random: () => number,
): Promise<readonly AskedCustomer[]> {
  const searched = watchlist.filter(({ schema }) => schema !== 'Vessel' && schema !== 'Airplane');
  const listed = Array.from({ length: listedCustomers }, (_, turn) => {
    const { name = '', aliases = [], schema } = searched[Math.floor(random() * searched.length)] ?? {};
    const spelling = turn % 4 === 1 ? (aliases[0] ?? name) : name;
    const type: AskedCustomer['type'] = schema === 'Person' ? 'person' : 'entity';
    return { type, name: turn % 4 === 2 ? varyName(spelling, random).name : spelling };
  });
  const rows = z.array(z.object({ full_name: z.string() }));
  const people = rows.parse(parse(await readFile(join(data, 'rosters/negatives_us.csv'), 'utf8'), { columns: true }));
  const clean = people.slice(0, cleanCustomers).map(({ full_name: name }) => ({ type: 'person' as const, name }));
  return [...listed, ...clean].map((customer, place) => ({ reference: `C-${place + 1}`, ...customer }));
}

async function writeCustomers(customers: readonly AskedCustomer[]): Promise<string> {
  const path = join(await mkdtemp(join(tmpdir(), 'nightscreen-roster-')), 'roster.csv');
  const rows = customers.map(({ reference, type, name }) => [reference, type, name]);
  await writeFile(path, stringify([['customer_id', 'type', 'name'], ...rows]));
  return path;
}

/** Screens everybody once a night; the changes that each night after the first has stored. */
async function screenNights(
  database: Database,
  sandbox: Sandbox,
  roster: RosterSettings,
  { nights }: ListVariant,
  turn: number,
): Promise<readonly (readonly string[])[]> {
  const found: string[][] = [];
  for (const [night, { world }] of nights.entries()) {
    sandbox.setWorld(world);
    const app = await makeAppContext(database, sandbox, {
      offsetMs: (turn * 10 + night) * dayMs,
      settings: { screening: neverHeld },
    });
    const { runId, ...summary } = await runScreening(
      app,
      { kind: 'rescreen', roster, selection: 'due', importFirst: true, writeReport: false },
      new AbortController().signal,
    ).finally(() => app.client().close());
    const screened = listedCustomers + cleanCustomers;
    expect(summary).toMatchObject({ state: 'complete', counts: { screened, rejected: 0, failed: 0 } });
    const { changes } = await showRun(database, runId);
    expect(changes.filter(({ cause }) => cause !== 'service_data')).toEqual([]);
    const lines = changes.map(({ party: { reference }, kind, fields, before, after }) =>
      toLine({ reference, kind, fields, before: toResult(before), after: toResult(after) }),
    );
    if (night === 0) expect(lines).toEqual([]);
    else found.push(lines);
  }
  return found;
}

/** A match as the service gave it. */
const toResult = (match: Match | null): SearchResult | null =>
  match && {
    id: match.id,
    name: match.name,
    schema: match.schema,
    match: match.isHit,
    score: match.score,
    topics: match.topics,
    birth_date: match.birthDates,
    country: match.countries,
  };

const toLine = ({ reference, kind, fields, before, after }: ExpectedChange): string =>
  `${reference} ${kind} ${[...fields].sort().join('+')} ${JSON.stringify(before)} ${JSON.stringify(after)}`;

const sortLines = (lines: readonly string[]): readonly string[] => [...lines].sort();

function describeKinds(changes: readonly ExpectedChange[]): string {
  const counts = new Map<string, number>();
  for (const { kind } of changes) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const kinds = [...counts].map(([kind, count]) => `${count} ${kind}`).sort();
  return kinds.length > 0 ? ` (${kinds.join(', ')})` : '';
}
