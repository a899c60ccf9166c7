import { resolve } from 'node:path';
import { z } from 'zod';

const placeholders = ['runId', 'file', 'roster'] as const;

const schemes: readonly string[] = ['https:', 'http:', 'file:'];
const placeholder = /\{(\w+)\}/g;
/** Names under which addresses carry what lets anybody in who holds them. */
const secretParameter = /token|secret|signature|credential|passw|(^|[^a-z]|api|access)(sig|key|pwd|pass|auth|code)$/i;

/** What is wrong with a link template, in words; null when nothing is. */
function findTemplateProblem(template: string): string | null {
  const known: readonly string[] = placeholders;
  const unknown = [...template.matchAll(placeholder)]
    .map(([, name = '']) => name)
    .find((name) => !known.includes(name));
  if (unknown !== undefined) {
    return `holds the unknown placeholder {${unknown}}; known are ${placeholders.map((name) => `{${name}}`).join(', ')}`;
  }
  const filled = fillLinkTemplate(template, { runId: 'run', file: 'report.html', roster: 'roster' });
  if (/[{}]/.test(filled)) return 'holds a brace that belongs to no placeholder';
  if (/[\s\p{C}]/u.test(filled)) return 'holds white space or characters that cannot be seen';
  const isLink = URL.canParse(filled) && schemes.includes(new URL(filled).protocol);
  if (!isLink) return 'must be a link such as https://files.firm.example/screening/{runId}/{file}';
  return findOpenDoor(new URL(filled));
}

/** What in a link would let in whoever is given it: it is shown, mailed, kept in the database and in backups. */
function findOpenDoor({ username, password, searchParams }: URL): string | null {
  const advice = 'it goes into mails and backups; link to a place that asks each reader who it is';
  if (username !== '' || password !== '') return `must not hold credentials: ${advice}`;
  const open = [...searchParams.keys()].find((name) => secretParameter.test(name));
  return open === undefined ? null : `must not hold a secret in its query (${open}): ${advice}`;
}

/** The template with its placeholders filled in, each as one percent-encoded part of the link. */
export function fillLinkTemplate(
  template: string,
  parts: Readonly<Record<(typeof placeholders)[number], string>>,
): string {
  return placeholders.reduce(
    (link, name) => link.replaceAll(`{${name}}`, () => encodeURIComponent(parts[name].toWellFormed())),
    template,
  );
}

/** Where reports go: each run gets a folder of its own under `dir`, and a copy of it under `publishTo`, where readers can open it. */
export const reportSettingsSchema = z
  .strictObject({
    dir: z.string().min(1).default('./reports').describe('each reported run gets a folder of its own in it'),
    publishTo: z
      .string()
      .min(1)
      .optional()
      .describe('a folder that readers can open, such as a share: each report is copied there'),
    linkTemplate: z
      .string()
      .superRefine((template, context) => {
        const message = findTemplateProblem(template);
        if (message !== null) context.addIssue({ code: 'custom', message });
      })
      .optional()
      .describe(
        'the address under which readers open the copy, as in https://files.firm.example/screening/{runId}/{file}; {runId}, {file} and {roster} are filled in',
      ),
  })
  .refine(({ dir, publishTo }) => publishTo === undefined || resolve(publishTo) !== resolve(dir), {
    error: 'is where the reports are written; name the folder that readers can open',
    path: ['publishTo'],
  });
export type ReportSettings = z.infer<typeof reportSettingsSchema>;
