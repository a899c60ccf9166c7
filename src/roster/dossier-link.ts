import { z } from 'zod';
import { durationSchema } from './duration.js';

// What JavaScript and the database read alike: no look-around, no named groups, no word boundaries, no Unicode classes.
const unlike = /\(\?(?!:)|\\[bBpPkuxAZmMyY]|\[\[|\*\?|\+\?|\?\?|\}\?/;

/** Why a pattern cannot be used; null where it can. */
function findPatternProblem(pattern: string): string | null {
  try {
    const groups = (new RegExp(`${pattern}|`).exec('')?.length ?? 1) - 1;
    if (groups !== 1) return `holds ${groups} groups; exactly one must hold the customer's id, such as ^KYC-(.+)$`;
  } catch (error) {
    return `is no regular expression: ${error instanceof Error ? error.message : String(error)}`;
  }
  const [found] = unlike.exec(pattern) ?? [];
  return found === undefined ? null : `holds ${found}, which the database reads otherwise; write it without`;
}

const patternSchema = z.string().superRefine((pattern, context) => {
  const problem = findPatternProblem(pattern);
  if (problem !== null) context.addIssue({ code: 'custom', message: problem });
});

const text = z.string().min(1);
const isText = (value: unknown): value is string => typeof value === 'string';

const channels = ['email', 'sms'] as const;

/** How customers without a dossier are invited (interface: POST /autodoc/invitations). */
const invitingSchema = z.strictObject({
  workflow: z
    .string()
    .regex(/^wf_\S+$/, 'must be the token of a workflow, wf_...')
    .describe('token of the workflow that customers are invited to'),
  recipient: text.describe('a column of columns.attributes with the e-mail address or phone number'),
  channel: z
    .union([text, z.strictObject({ value: z.enum(channels) })], {
      error: 'expected a column with email or sms, {value: email} or {value: sms}',
    })
    .describe('a column of columns.attributes with email or sms, or one for all: { value }'),
  locale: z
    .union([text, z.strictObject({ value: text })], { error: 'expected a column, or {value: locale}' })
    .optional()
    .describe("a column of columns.attributes with the language, or one for all: { value }; without it the service's"),
});

/** How a roster's customers relate to the service's dossiers (interface: Dossier summary, `reference`). */
export const dossierLinkSchema = z.strictObject({
  reference: z
    .union([z.literal('exact'), z.strictObject({ prefix: text }), z.strictObject({ pattern: patternSchema })], {
      error: "expected exact, {prefix: text before the customer's id} or {pattern: regular expression with one group}",
    })
    .default('exact')
    .describe("how a dossier's reference holds the customer's id: exact, { prefix } or { pattern } with one group"),
  customerColumn: text
    .optional()
    .describe(
      "a column of columns.attributes that holds what a dossier's reference says; without it the customer's id",
    ),
  expect: z
    .union([z.enum(['always', 'never']), z.strictObject({ where: z.record(text, z.string()) })], {
      error: 'expected always, never, or {where: {column: value}}',
    })
    .default('always')
    .describe('which customers have a dossier: always, never, or { where: { column: value } } of columns.attributes'),
  invite: invitingSchema.optional().describe('how customers without a dossier are invited; without it none are'),
  staleAfter: durationSchema.optional().describe('how long a dossier may stay without any change, such as 365d'),
});
export type DossierLink = z.infer<typeof dossierLinkSchema>;

/** The columns that a link reads, which have to be kept. */
export const listLinkColumns = ({ customerColumn, expect, invite }: DossierLink): readonly string[] => [
  ...(customerColumn === undefined ? [] : [customerColumn]),
  ...(invite === undefined ? [] : [invite.recipient, invite.channel, invite.locale].filter(isText)),
  ...(typeof expect === 'string' ? [] : Object.keys(expect.where)),
];
