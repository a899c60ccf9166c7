import { readRoster } from '../../../src/roster/read-roster.js';
import { rosterSettingsSchema } from '../../../src/roster/settings.js';
import { readPeakBytes } from '../../helpers/figures.js';

/** What a process that reads a Postgres roster prints as JSON. */
export interface PostgresReport {
  rows: number;
  /** How much more memory it held at the most than before. */
  addedBytes: number;
}

const [url = '', query = ''] = process.argv.slice(2);
const settings = rosterSettingsSchema.parse({
  name: 'core',
  postgres: { urlEnv: 'CORE_DATABASE_URL', query },
  columns: { id: 'id', name: 'name', type: { value: 'person' } },
});
const before = process.memoryUsage().rss;
let rows = 0;
for await (const batch of (await readRoster(settings, () => url)).rows) rows += batch.length;
const report: PostgresReport = { rows, addedBytes: readPeakBytes() - before };
process.stdout.write(`${JSON.stringify(report)}\n`);
