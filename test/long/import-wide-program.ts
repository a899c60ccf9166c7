import { tuneV8 } from '../../src/cli/process.js';
import { rosterSettingsSchema } from '../../src/roster/settings.js';
import { runImport } from '../../src/runs/import/import-run.js';
import { type DatabaseLocation, openDatabase } from '../../src/store/database/open-database.js';
import { readPeakBytes } from '../helpers/figures.js';
import { makeAppContext } from '../helpers/small-world.js';

/** What a process that imports the rows of a query is told, as JSON. */
export interface WideImport {
  location: DatabaseLocation;
  sourceUrl: string;
  query: string;
  columns: Readonly<Record<string, unknown>>;
}

/** What it prints as JSON. */
export interface WideImportReport {
  error: string | null;
  /** The most memory that the process has held. */
  peakBytes: number;
  /** The same before the import began. */
  beforeBytes: number;
}

async function importWide({ location, sourceUrl, query, columns }: WideImport): Promise<WideImportReport> {
  const database = await openDatabase(location, 'tests');
  const nowhere = { url: 'http://127.0.0.1:9', privateKey: 'private_test_nobody' };
  const app = { ...(await makeAppContext(database, nowhere)), emit: () => undefined, secret: () => sourceUrl };
  const urlEnv = 'CORE_DATABASE_URL';
  const settings = rosterSettingsSchema.parse({
    name: 'core',
    postgres: { urlEnv, query },
    columns,
    guards: { maxRejectShare: 1 },
  });
  const beforeBytes = readPeakBytes();
  try {
    await runImport(app, settings, new AbortController().signal);
    return { error: null, peakBytes: readPeakBytes(), beforeBytes };
  } catch (error) {
    return { error: String(error), peakBytes: readPeakBytes(), beforeBytes };
  } finally {
    await app.client().close();
    await database.close();
  }
}

tuneV8();
const order: WideImport = JSON.parse(process.argv[2] ?? '{}');
process.stdout.write(`${JSON.stringify(await importWide(order))}\n`);
