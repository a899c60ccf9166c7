import { z } from 'zod';
import type { RiskTier } from '../roster/customer.js';
import { severities } from './change-event.js';
import { type SeverityRuleName, severityRules } from './severity-rules.js';
import { topicFamiliesSchema } from './topic-families.js';

const riskTier = z.enum(['low', 'medium', 'high']) satisfies z.ZodType<RiskTier>;
const ruleNames = severityRules.map(({ rule }): SeverityRuleName => rule);

/** What counts as a change, and how much each matters. */
export const changeSettingsSchema = z.strictObject({
  /** A score has to move by at least this much from the value last reported or decided on. */
  scoreStep: z.number().positive().max(1).default(0.02),
  /** Which topics are sanctions, crime, political exposure. */
  topics: topicFamiliesSchema.prefault({}),
  /** Severities other than the table's own, by the name of the rule. */
  severities: z.partialRecord(z.enum(ruleNames), z.enum(severities)).default({}),
  birthDateLowers: z.boolean().default(true),
  /** Customers in these tiers have what is low or medium raised by a step. */
  raisedTiers: z.array(riskTier).default(['high']),
});
export type ChangeSettings = z.infer<typeof changeSettingsSchema>;
