import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import axe from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toGroupReport } from '../../src/reports/assess-group.js';
import type { GroupFacts } from '../../src/reports/group.js';
import { renderGroupPage } from '../../src/reports/html-group.js';
import { findChromium } from '../helpers/cli-process.js';
import { buildGroupFacts, buildRoster, buildTroubledFacts } from '../helpers/group-facts.js';
import { joinChunks } from '../helpers/report-files.js';

const chromiumPath = findChromium();
if (chromiumPath === null) process.stderr.write('skipped: no Chromium here (CHROMIUM_PATH, or chromium on PATH)\n');

describe.skipIf(chromiumPath === null)('the page over all rosters in Chromium', () => {
  let browser: Browser;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'nightscreen-group-'));
    // As root, Chromium starts only without its sandbox.
    browser = await chromium.launch({ executablePath: chromiumPath ?? '', args: ['--no-sandbox'] });
  });
  afterAll(async () => {
    await browser?.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function withPage<Found>(
    facts: GroupFacts,
    context: BrowserContextOptions,
    read: (page: Page) => Promise<Found>,
  ): Promise<Found> {
    const path = join(folder, 'report.html');
    await writeFile(path, await joinChunks(renderGroupPage(toGroupReport(facts))));
    const opened = await browser.newContext(context);
    try {
      const page = await opened.newPage();
      await page.goto(pathToFileURL(path).href);
      return await read(page);
    } finally {
      await opened.close();
    }
  }

  const measureOverflow = (page: Page): Promise<number> =>
    page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');

  const manyFacts = (): GroupFacts => {
    const long = 'private-banking-and-wealth-management-of-the-north';
    const rosters = Array.from({ length: 40 }, (_, index) => buildRoster(`${long}-${index}`));
    return buildGroupFacts([...rosters, buildRoster('savings', { runs: [], changed: [] })]);
  };

  it.each([
    ['a desk', { viewport: { width: 1280, height: 900 } }],
    ['a phone', { viewport: { width: 360, height: 740 } }],
    ['a phone in the dark', { viewport: { width: 360, height: 740 }, colorScheme: 'dark' }],
  ] as const)('on %s nothing is wider than the page, and what did not run is read first', async (_, context) => {
    for (const facts of [manyFacts(), buildTroubledFacts()]) {
      const { overflow, first } = await withPage(facts, context, async (page) => ({
        overflow: await measureOverflow(page),
        first: await page.locator('#rosters tbody tr').first().innerText(),
      }));
      expect(overflow).toBe(0);
      expect(first).toMatch(/^(savings|brokerage)[\s\S]*(did not run|has not begun)/);
    }
  });

  it.each(['light', 'dark'] as const)('has no fault that axe finds, in %s', async (colorScheme) => {
    const found = await withPage(buildTroubledFacts(), { colorScheme, bypassCSP: true }, async (page) => {
      await page.evaluate(axe.source);
      return page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>('axe.run()');
    });
    expect(found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)).toEqual([]);
  });

  it('needs no script, fetches nothing, and links to the report of a roster', async () => {
    const facts = buildTroubledFacts();
    const { requests, links } = await withPage(facts, { javaScriptEnabled: false }, async (page) => {
      const seen: string[] = [];
      page.on('request', (request) => seen.push(request.url()));
      await page.reload();
      return { requests: seen.length, links: await page.locator('#changes a').count() };
    });
    expect({ requests, links }).toEqual({ requests: 1, links: 1 });
  });
});
