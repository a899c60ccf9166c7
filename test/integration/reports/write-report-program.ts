import { toReport } from '../../../src/reports/report.js';
import { writeReport } from '../../../src/reports/write-report.js';
import { buildChange, buildCounts, buildParty, buildRunFacts } from '../../helpers/run-facts.js';

const [directory = '', count = '0'] = process.argv.slice(2);
const changes = Array.from({ length: Number(count) }, (_, index) =>
  buildChange({ changeId: index + 1, severity: 'low', party: buildParty({ reference: `C-${index}` }) }),
);
const report = toReport(buildRunFacts({ changes, counts: buildCounts({ changes: changes.length }) }));
await writeReport(report, directory).catch((error: unknown) => {
  process.stderr.write(String(error));
  process.exitCode = 1;
});
