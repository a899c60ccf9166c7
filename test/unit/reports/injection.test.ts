import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { formatTable } from '../../../src/cli/text.js';
import { renderMessage } from '../../../src/mail/delivery.js';
import { buildEarlyWarning } from '../../../src/mail/early-warning.js';
import type { MailMessage } from '../../../src/mail/message.js';
import { buildReportMessage } from '../../../src/mail/report-message.js';
import { mailSettingsSchema } from '../../../src/mail/settings.js';
import { renderHtml } from '../../../src/reports/html-page.js';
import { renderChangesCsv, renderNotScreenedCsv } from '../../../src/reports/lists.js';
import { maskReport } from '../../../src/reports/mask-report.js';
import { toReport } from '../../../src/reports/report.js';
import type { RunFacts } from '../../../src/reports/run-facts.js';
import { toVisibleText } from '../../../src/reports/text.js';
import { renderJson } from '../../../src/reports/to-report-json.js';
import { renderRejectsCsv } from '../../../src/reports/write-report.js';
import { hiddenCharacters, injectionPayloads, joinChunks } from '../../helpers/report-files.js';
import {
  buildChange,
  buildControl,
  buildCounts,
  buildManyChanges,
  buildMatch,
  buildParty,
  buildRunFacts,
  buildToReview,
  buildWaitingAlert,
} from '../../helpers/run-facts.js';

const settings = mailSettingsSchema.parse({ from: 'night@bank.example', to: ['mlro@bank.example'] });
const written = { directory: '/reports/run-1', files: [{ name: 'report.html', bytes: 1, sha256: 'aa' }] };

/** One change, one rejected row and one control search for each payload, which stands wherever a text from outside may stand. */
function buildHostileFacts(texts: readonly string[]): RunFacts {
  const rejects = texts.map((text, index) => ({
    line: index + 2,
    file: text,
    column: text,
    reason: 'missing_name' as const,
    valueClass: text,
    reference: text,
    fields: { [text]: text },
  }));
  const changes = texts.map((text, index) =>
    buildChange({
      changeId: index + 1,
      party: buildParty({ reference: text, name: text, countries: [text] }),
      matchId: text,
      rule: text,
      after: buildMatch({ id: text, name: text, schema: text, topics: [text], birthDates: [text], countries: [text] }),
    }),
  );
  const counts = { changes: changes.length, rejected: rejects.length, rows: 500 + rejects.length };
  return buildRunFacts({
    changes,
    rejects,
    openAlerts: buildManyChanges(3, 3).facts.openAlerts,
    stateReasons: texts,
    counts: buildCounts(counts),
    controls: texts.map((text) => buildControl({ name: text, found: text, label: text, topics: [text] })),
  });
}

/** One waiting alert for each payload. */
const buildHostileList = (texts: readonly string[]) =>
  buildToReview(
    texts.map((text, index) => {
      const said = { verdict: 'false_positive' as const, reviewer: text, reason: text, decidedAt: new Date(0) };
      return buildWaitingAlert({
        mark: text,
        assignedTo: text,
        lastDecision: said,
        replaced: { ...said, name: text, matchId: text },
        party: buildParty({ reference: `${index} ${text}`, name: text, countries: [text] }),
        listed: buildMatch({ id: text, name: text, topics: [text], birthDates: [text], countries: [text] }),
      });
    }),
  );

const toHostileReport = (texts: readonly string[]) => toReport(buildHostileFacts(texts), buildHostileList(texts));
const texts = injectionPayloads.map(({ text }) => text);
const report = toHostileReport(texts);

it('there are more than 200 payloads, no two the same', () => {
  expect(new Set(texts).size).toBe(texts.length);
  expect(texts.length).toBeGreaterThan(200);
});

describe('whatever stands in a name or reference', () => {
  it.each([renderChangesCsv(report), renderNotScreenedCsv(report), renderRejectsCsv(report)])(
    'is no formula in any cell of a CSV file',
    async (chunks) => {
      const startsFormula = /(^|[;|\t\n\v\f\r\u0085\u2028\u2029])[\s\p{C}]*[=+\-@\uff1d\uff0b\uff0d\uff20\u2212]/u;
      const rows: string[][] = parse(await joinChunks(chunks), { bom: true });
      const cells = rows.flat().filter((cell) => !/^-?\d+(\.\d+)?$/.test(cell));
      expect(cells.filter((cell) => startsFormula.test(cell))).toEqual([]);
    },
  );

  it('opens no element, names no address and turns nothing around on the page', async () => {
    let page = '';
    for await (const chunk of renderHtml(report)) page += chunk;
    const body = page.slice(page.indexOf('<body'));
    const ours = await countElements(toHostileReport(texts.map(() => 'plain')));
    expect(listElements(body)).toEqual(ours);
    expect(body.replaceAll('\n', '')).not.toMatch(hiddenCharacters);
  });

  it('is kept as it came in report.json', async () => {
    const document: { changes: { party: { name: string } }[] } = JSON.parse(await joinChunks(renderJson(report)));
    const kept = document.changes.map(({ party }) => party.name).toSorted();
    expect(kept).toEqual(texts.toSorted());
  });

  it('writes one line to a terminal that moves nothing and hides nothing', () => {
    for (const text of texts) {
      const line = formatTable([['customer', toVisibleText(text)]]);
      expect(line.endsWith('\n')).toBe(true);
      expect(line.slice(0, -1)).not.toMatch(hiddenCharacters);
    }
  });
});

async function countElements(plain: ReturnType<typeof toReport>): Promise<Record<string, number>> {
  let page = '';
  for await (const chunk of renderHtml(plain)) page += chunk;
  return listElements(page.slice(page.indexOf('<body')));
}

/** Every tag with its attributes' names, counted; dates and options in a text have a tag of ours. */
function listElements(page: string): Record<string, number> {
  const counts: Record<string, number> = {};
  const bare = page.replaceAll(/<span class="whole">([^<]*)<\/span>/g, '$1');
  for (const [, name = '', rest = ''] of bare.matchAll(/<([!/]?[a-zA-Z][\w-]*)((?:[^>"']|"[^"]*"|'[^']*')*)>/g)) {
    const attributes = [...rest.replace(/"[^"]*"|'[^']*'/g, '').matchAll(/([\w-]+)\s*=/g)].map(
      ([, attribute]) => attribute,
    );
    const key = [name, ...attributes].join(' ');
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

describe('whatever stands in the name of a roster, in a reason or a reference', () => {
  const tagsOf = (page: string): readonly string[] => page.match(/<[a-z/!][^>]*>/gi) ?? [];
  const kinds = ['report', 'summary', 'failure'] as const;
  const build = (text: string) => {
    const facts = buildRunFacts({ roster: text, organisation: text, state: 'incomplete', stateReasons: [text] });
    const reported = toReport(facts);
    return [
      ...kinds.map((shows) =>
        buildReportMessage(reported, written, { address: 'mlro@bank.example', shows, attach: 'none' }, settings),
      ),
      buildEarlyWarning(
        {
          runId: 'run-1',
          roster: text,
          organisation: text,
          mode: 'live',
          timezone: 'UTC',
          changes: 1,
          firstChangeId: 1,
          lastChangeId: 1,
          queuedAt: new Date(0),
          hasControls: true,
          listed: [{ ...buildChange({ party: buildParty({ reference: text }) }), isBaseline: false }],
        },
        { address: 'mlro@bank.example', attach: 'none' },
        settings,
      ),
    ];
  };

  const plain = build('plain');

  it.each([...new Set(injectionPayloads.map(({ kind }) => kind))])(
    'adds no header, no element and no line to any mail: %s',
    async (kind) => {
      const usualHeaders = await Promise.all(plain.map(listHeaders));
      for (const { text } of injectionPayloads.filter((payload) => payload.kind === kind)) {
        for (const [index, message] of build(text).entries()) {
          expect(tagsOf(message.html)).toEqual(tagsOf(plain[index]?.html ?? ''));
          expect(message.text.split('\n')).toHaveLength(plain[index]?.text.split('\n').length ?? 0);
          const parts = [message.subject, ...message.text.split('\n'), ...message.html.split('\n')];
          expect(parts.filter((part) => hiddenCharacters.test(part))).toEqual([]);
        }
        const [message] = build(text);
        if (message) expect(await listHeaders(message)).toEqual(usualHeaders[0]);
      }
    },
  );
});

async function listHeaders(message: MailMessage): Promise<readonly string[]> {
  const raw = (await renderMessage(message)).toString('latin1');
  const headers = raw.slice(0, raw.indexOf('\r\n\r\n')).split(/\r\n(?![ \t])/);
  return headers.map((header) => header.slice(0, header.indexOf(':')));
}

it('a masked report neutralises what is left as well', async () => {
  let page = '';
  for await (const chunk of renderHtml(maskReport(report))) page += chunk;
  expect(page.replaceAll('\n', '')).not.toMatch(hiddenCharacters);
});
