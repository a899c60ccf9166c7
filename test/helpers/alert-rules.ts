import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { evaluatePromql } from './evaluate-promql.js';

const rules = z.object({
  groups: z.array(
    z.object({
      name: z.string(),
      rules: z.array(
        z.strictObject({
          alert: z.string().regex(/^Nightscreen[A-Za-z]+$/),
          expr: z.string(),
          for: z
            .string()
            .regex(/^\d+(m|h)$/)
            .optional(),
          labels: z.object({ severity: z.enum(['page', 'ticket']) }),
          annotations: z.object({ summary: z.string(), description: z.string() }),
        }),
      ),
    }),
  ),
});

/** The alert rules as they are shipped. */
export const alertRules = rules
  .parse(parse(readFileSync(new URL('../../deploy/prometheus/alerts.yaml', import.meta.url), 'utf8')))
  .groups.flatMap(({ rules }) => rules);

/**
 * The alerts whose expression holds at a moment for this metrics text, without the beginning of their names; how long it has to hold (`for`)
 * is not tried. `before` is the text of the days before; the same where it is left out.
 */
export function listFiring(text: string, at: Date, before = text): readonly string[] {
  const moment = {
    atSeconds: at.getTime() / 1_000,
    readText: (offsetSeconds: number) => (offsetSeconds > 0 ? before : text),
  };
  return alertRules.flatMap(({ alert, expr }) => {
    const found = evaluatePromql(expr, moment);
    if (typeof found === 'number') throw new Error(`${alert} gives a number, which always fires`);
    return found.length > 0 ? [alert.replace(/^Nightscreen/, '')] : [];
  });
}
