import { resolve } from 'node:path';
import { z } from 'zod';

const placeholders = ['runId', 'file', 'roster'] as const;

const schemes: readonly string[] = ['https:', 'http:', 'file:'];
const placeholder = /\{(\w+)\}/g;
/** Names of query parameters that carry secrets. */
const secretParameter = /token|secret|signature|credential|passw|(^|[^a-z]|api|access)(sig|key|pwd|pass|auth|code)$/i;

function findTemplateProblem(template: string): string | null {
  const known: readonly string[] = placeholders;
  const unknown = [...template.matchAll(placeholder)]
    .map(([, name = '']) => name)
    .find((name) => !known.includes(name));
  if (unknown !== undefined) {
    return `contains the unknown placeholder {${unknown}}; known placeholders: ${placeholders.map((name) => `{${name}}`).join(', ')}`;
  }
  const filled = fillLinkTemplate(template, { runId: 'run', file: 'report.html', roster: 'roster' });
  if (/[{}]/.test(filled)) return 'contains a brace outside of a placeholder';
  if (/[\s\p{C}]/u.test(filled)) return 'contains white space or hidden characters';
  const isLink = URL.canParse(filled) && schemes.includes(new URL(filled).protocol);
  if (!isLink) return 'must be a link such as https://files.firm.example/screening/{runId}/{file}';
  return findSecret(new URL(filled));
}

/** A link is shown, mailed, stored in the database and in backups, so it must not contain a secret. */
function findSecret({ username, password, searchParams }: URL): string | null {
  const advice = 'the link goes into mails and backups. Use an address that asks each reader to log in';
  if (username !== '' || password !== '') return `must not contain credentials: ${advice}`;
  const open = [...searchParams.keys()].find((name) => secretParameter.test(name));
  return open === undefined ? null : `must not contain a secret in its query (${open}): ${advice}`;
}

/** Fills in the placeholders of a link template, each percent-encoded. */
export function fillLinkTemplate(
  template: string,
  parts: Readonly<Record<(typeof placeholders)[number], string>>,
): string {
  return placeholders.reduce(
    (link, name) => link.replaceAll(`{${name}}`, () => encodeURIComponent(parts[name].toWellFormed())),
    template,
  );
}

/** The folders of reports: each run has its own folder under `dir`, and a copy under `publishTo` for readers. */
export const reportSettingsSchema = z
  .strictObject({
    dir: z
      .string()
      .min(1)
      .default('./reports')
      .describe('the folder of reports; each reported run has its own folder in it'),
    publishTo: z
      .string()
      .min(1)
      .optional()
      .describe('a folder that readers can open, such as a network share; each report is copied to it'),
    linkTemplate: z
      .string()
      .superRefine((template, context) => {
        const message = findTemplateProblem(template);
        if (message !== null) context.addIssue({ code: 'custom', message });
      })
      .optional()
      .describe(
        'the address of the copy for readers, such as https://files.firm.example/screening/{runId}/{file}; the placeholders are {runId}, {file} and {roster}',
      ),
  })
  .refine(({ dir, publishTo }) => publishTo === undefined || resolve(publishTo) !== resolve(dir), {
    error: 'is the folder of the reports themselves; name another folder that readers can open',
    path: ['publishTo'],
  });
export type ReportSettings = z.infer<typeof reportSettingsSchema>;
