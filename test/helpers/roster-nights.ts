import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { type GuardSettings, guardsSchema } from '../../src/roster/guards.js';
import type { ColumnSettings, PartySettings } from '../../src/roster/settings.js';
import { type RosterSettings, toFileRoster } from '../../src/roster/settings.js';
import { type ImportOptions, runImport } from '../../src/runs/import/import-run.js';
import type { RunSummary } from '../../src/runs/run-summary.js';
import { type Database, readColumn } from '../../src/store/database/database.js';
import { acceptChanges } from './small-site.js';
import { makeAppContext, type TestAppContext } from './small-world.js';

/** One night's roster: its rows below the header, and those of its related parties. */
export interface RosterNight extends ImportOptions {
  rows: readonly string[];
  parties?: readonly string[];
  /** Days after the first. */
  day?: number;
  header?: string;
  leaveAfterDays?: number;
  guards?: Partial<GuardSettings>;
  /** That of the key; without it a test key's. */
  mode?: 'test' | 'live';
  columns?: ColumnSettings;
  partyColumns?: PartySettings['columns'];
}

const everythingPasses: Partial<GuardSettings> = {
  maxRejectShare: 1,
  maxDoubtShare: 1,
  maxShrinkNight: 1,
  maxShrink30Days: 1,
  maxDuplicateShare: 1,
  columns: false,
  maxChangedShare: 1,
};

/** Columns that are only read when they are mapped. */
const optional = { aliases: 'alias', active: 'active', endDate: 'end_date' };
const dayMs = 86_400_000;
const defaultHeader = 'customer_id,type,name,birth_date,countries,risk_tier,alias,active,end_date';
const partyHeader = 'customer_id,role,type,name,birth_date,countries';

/** Imports rosters night after night into one database; guards pass everything unless a night sets its own. */
export async function openRosterNights(database: Database, roster = 'people') {
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-nights-'));
  const path = join(folder, 'roster.csv');
  const partyPath = join(folder, 'parties.csv');
  const apps: TestAppContext[] = [];
  const prepare = async (night: RosterNight): Promise<{ app: TestAppContext; settings: RosterSettings }> => {
    await writeFile(path, [night.header ?? defaultHeader, ...night.rows, ''].join('\n'));
    if (night.parties) await writeFile(partyPath, [partyHeader, ...night.parties, ''].join('\n'));
    const where = { url: 'http://127.0.0.1:9', privateKey: 'private_test_nobody' };
    const app = await makeAppContext(database, where, { offsetMs: (night.day ?? 0) * dayMs });
    app.settings.screening.leaveAfterDays = night.leaveAfterDays ?? 7;
    if (night.mode) app.settings.service.mode = night.mode;
    apps.push(app);
    const base = toFileRoster(roster, path);
    const { csv } = toFileRoster(roster, partyPath);
    const parties = night.parties && csv ? [{ csv, columns: night.partyColumns ?? {} }] : [];
    const guards = night.guards ?? everythingPasses;
    const headers = (night.header ?? defaultHeader).split(',');
    const columns = Object.fromEntries(Object.entries(optional).filter(([, header]) => headers.includes(header)));
    return {
      app,
      settings: { ...base, columns: { ...columns, ...night.columns }, parties, guards: guardsSchema.parse(guards) },
    };
  };
  return {
    prepare,
    play: async (night: RosterNight): Promise<RunSummary> => {
      const { app, settings } = await prepare(night);
      await acceptChanges(app);
      return runImport(app, settings, new AbortController().signal, night);
    },
    close: async (): Promise<void> => {
      for (const app of apps) await app.client().close();
    },
  };
}

async function readLines(database: Database, sql: string): Promise<readonly string[]> {
  return readColumn(database, z.string(), sql);
}

/** Every current party as `reference place role name`, in order. */
export const readParties = (database: Database): Promise<readonly string[]> =>
  readLines(
    database,
    `select concat_ws(' ', customer.reference, party.ordinal, version.record -> 'parties' -> party.ordinal::integer ->> 'role', request.name) as line
     from customer join party using (customer_id) join screening_request request using (request_id)
     join customer_version version using (customer_id, version)
     where party.is_current order by customer.reference collate "C", party.ordinal`,
  );

/** What each snapshot changed, as `import: reference kind fields because`. */
export const readChanges = (database: Database): Promise<readonly string[]> =>
  readLines(
    database,
    `select concat_ws(' ', (select count(*) from roster_import earlier where earlier.import_id <= change.import_id) || ':',
       customer.reference, change.kind, array_to_string(change.fields, '+'), change.because) as line
     from (
       select first_import_id as import_id, customer_id, 'joined' as kind, null::text[] as fields, null::text as because from customer
       union all
       select import_id, customer_id, 'changed', changed_fields, null from customer_version where changed_fields is not null
       union all
       select import_id, customer_id, kind, null, because from roster_standing
     ) change
     join customer using (customer_id)
     order by change.import_id, customer.reference collate "C", change.kind`,
  );

/** The last import's counts as `name=value`, those of nothing left out. */
export const readCounts = (database: Database): Promise<readonly string[]> =>
  readLines(
    database,
    `select key || '=' || value as line
     from (select to_jsonb(roster_import) as counts from roster_import order by import_id desc limit 1) last,
       jsonb_each_text(counts)
     where key in ('rows', 'customers', 'rejected', 'duplicates', 'absent', 'joined', 'changed', 'leavers', 'returned', 'conflicts',
       'party_rows', 'party_rejected') and value <> '0'
     order by key collate "C"`,
  );

/** The rows that the last import rejected, as `line reason reference`. */
export const readRejected = (database: Database): Promise<readonly string[]> =>
  readLines(
    database,
    `select concat_ws(' ', line, reason, reference) as line from roster_row
     where import_id = (select max(import_id) from roster_import) and reason is not null order by ordinal`,
  );
