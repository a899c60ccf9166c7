import { z } from 'zod';
import type { RiskTier } from '../roster/customer.js';
import { severities } from './change-event.js';
import { type SeverityRuleName, severityRules } from './severity-rules.js';
import { topicFamiliesSchema } from './topic-families.js';

const riskTier = z.enum(['low', 'medium', 'high']) satisfies z.ZodType<RiskTier>;
const ruleNames = severityRules.map(({ rule }): SeverityRuleName => rule);

/** What counts as a change, and how much each matters. */
export const changeSettingsSchema = z.strictObject({
  scoreStep: z
    .number()
    .positive()
    .max(1)
    .default(0.02)
    .describe('a score has to move by at least this much from the value last reported or decided on'),
  topics: topicFamiliesSchema.prefault({}).describe('which topics belong together'),
  severities: z
    .partialRecord(z.enum(ruleNames), z.enum(severities))
    .default({})
    .describe("severities other than the table's own, by the name of the rule"),
  birthDateLowers: z
    .boolean()
    .default(true)
    .describe('whether a birth date that contradicts lowers a severity by a step'),
  raisedTiers: z
    .array(riskTier)
    .default(['high'])
    .describe('risk tiers whose customers have low and medium raised by a step'),
});
export type ChangeSettings = z.infer<typeof changeSettingsSchema>;
