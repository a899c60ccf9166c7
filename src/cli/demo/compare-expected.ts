import { z } from 'zod';
import type { ReportJson } from '../../reports/report-json.js';

const expectedSchema = z.object({
  matches: z.array(
    z.object({ reference: z.string(), kind: z.string(), matchId: z.string(), fields: z.array(z.string()) }),
  ),
  dossiers: z.array(z.object({ dossierId: z.string(), kind: z.string(), fields: z.array(z.string()).default([]) })),
  discrepancies: z.array(z.object({ reference: z.string(), event: z.string(), kind: z.string() })),
});

/** How a report differs from what was expected: each change as one line of words. */
export interface Comparison {
  expected: number;
  missing: readonly string[];
  unexpected: readonly string[];
}

const describe = (about: string, kind: string, id: string, fields: readonly string[]): string =>
  `${about} ${kind} ${id}${fields.length > 0 ? ` (${fields.toSorted().join(', ')})` : ''}`;

/** What is left of `minuend` when one entry is taken away for each entry of `subtrahend`. */
export function subtract(minuend: readonly string[], subtrahend: readonly string[]): string[] {
  const rest = [...subtrahend];
  return minuend.filter((line) => {
    const at = rest.indexOf(line);
    if (at >= 0) rest.splice(at, 1);
    return at < 0;
  });
}

/** Compares the changes of a report with the expected ones; throws ZodError when the expectation itself is malformed. */
export function compareWithExpected(report: ReportJson, expectation: unknown): Comparison {
  const { matches, dossiers, discrepancies } = expectedSchema.parse(expectation);
  const expected = [
    ...matches.map(({ reference, kind, matchId, fields }) => describe(reference, kind, matchId, fields)),
    ...dossiers.map(({ dossierId, kind, fields }) => describe('dossier', kind, dossierId, fields)),
    ...discrepancies.map(({ reference, event, kind }) => describe(reference, event, kind, [])),
  ];
  const found = [
    ...(report.changes ?? []).map(({ party, kind, matchId, fields }) =>
      describe(party.reference, kind, matchId, fields),
    ),
    ...(report.dossierChanges ?? []).map(({ dossierId, kind, fields }) => describe('dossier', kind, dossierId, fields)),
    ...report.reconciliations.flatMap(({ news }) =>
      news.map(({ event, kind, facts }) => describe(String(facts['reference']), event, kind, [])),
    ),
  ];
  return { expected: expected.length, missing: subtract(expected, found), unexpected: subtract(found, expected) };
}
