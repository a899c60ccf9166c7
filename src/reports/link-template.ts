const placeholders = ['runId', 'file', 'roster'] as const;

/** What a link names. */
export type LinkParts = Readonly<Record<(typeof placeholders)[number], string>>;

const schemes: readonly string[] = ['https:', 'http:', 'file:'];
const placeholder = /\{(\w+)\}/g;
/** Names under which addresses carry what lets anybody in who holds them. */
const secretParameter = /token|secret|signature|credential|passw|(^|[^a-z]|api|access)(sig|key|pwd|pass|auth|code)$/i;

/** What is wrong with a link template, in words; null when nothing is. */
export function findTemplateProblem(template: string): string | null {
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
export function fillLinkTemplate(template: string, parts: LinkParts): string {
  return placeholders.reduce(
    (link, name) => link.replaceAll(`{${name}}`, () => encodeURIComponent(parts[name].toWellFormed())),
    template,
  );
}
