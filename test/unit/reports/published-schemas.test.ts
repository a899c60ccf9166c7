import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { toReport } from '../../../src/reports/report.js';
import { renderJson } from '../../../src/reports/to-report-json.js';
import { buildEventfulFacts } from '../../helpers/eventful-run-facts.js';
import { joinChunks } from '../../helpers/report-files.js';
import { buildRedFacts, buildSweepFacts } from '../../helpers/run-facts.js';
import { publishedSchemas, renderSchema, schemasFolder } from '../../helpers/shipped-files.js';

const readPublished = (name: string): Promise<string> => readFile(new URL(name, schemasFolder), 'utf8');

describe('the published schemas', () => {
  it.each(publishedSchemas)('$name is what the code gives (`npm run docs:schemas` writes it)', async (published) => {
    expect(await readPublished(published.name)).toBe(renderSchema(published));
  });

  it('hold for every report, and refuse a key that they do not name', async () => {
    const schema = z.fromJSONSchema(JSON.parse(await readPublished('report.schema.json')));
    for (const facts of [buildEventfulFacts(), buildRedFacts(), buildSweepFacts()]) {
      const document: unknown = JSON.parse(await joinChunks(renderJson(toReport(facts))));
      expect(schema.safeParse(document).error).toBeUndefined();
      expect(schema.safeParse({ ...Object(document), more: 1 }).success).toBe(false);
    }
  });
});
