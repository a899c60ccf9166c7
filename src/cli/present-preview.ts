import type { previewScreening } from '../runs/planning/preview-screening.js';
import { describeCounts } from './describe-counts.js';
import { exitCodes } from './exit-code.js';
import { formatTable } from './format-table.js';
import type { Outcome } from './invocation.js';

type Preview = Awaited<ReturnType<typeof previewScreening>>;

const isCounts = (value: unknown): value is Record<string, number> =>
  typeof value === 'object' && value !== null && Object.values(value).every((count) => typeof count === 'number');

/** What `screen --dry-run` says. */
export const presentPreview = (preview: Preview): Outcome => ({
  exitCode: exitCodes.complete,
  document: { schema: 'nightscreen/screening-preview/1', ...preview },
  text: formatTable(
    Object.entries(preview).map(([name, value]: [string, unknown]) => [
      name,
      isCounts(value) ? describeCounts(value) : String(value),
    ]),
  ),
});
