import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { doubtful, type Finding, well, wrong } from './finding.js';
import { describeShape, describeUnexpected, type Probe, type ProbeAnswer, type ProbeSender } from './probe-sender.js';

const rowSchema = z.looseObject({ id: z.string().min(1), status: z.string(), type: z.string() });
/** What the probes look at in a row of the dossier list (interface: Dossier summary). */
type SampleRow = z.output<typeof rowSchema>;
const rowsSchema = z.object({ dossiers: z.array(rowSchema) });
const firstPageSchema = rowsSchema.extend({ total: z.number(), total_pages: z.number() });

/** The largest page and the last one that can be asked for by number (interface: Limits). */
const perPage = 100;
const lastPage = 1_000;

/** The head of the dossier list and, when page numbers reach it, its end. */
interface DossierSample {
  total: number;
  head: readonly SampleRow[];
  /** The last page's rows; null when it lies behind the last page that has a number. */
  tail: readonly SampleRow[] | null;
}

/** An answer that is not what the interface says, in words that hold none of its content. */
export class UnexpectedAnswer extends Error {}

/** The rows of an answer of the dossier list; throws UnexpectedAnswer. */
function readRows(answer: ProbeAnswer): readonly SampleRow[] {
  const parsed = rowsSchema.safeParse(answer.value);
  if (answer.status !== 200 || !parsed.success)
    throw new UnexpectedAnswer(`GET /dossiers: ${describeUnexpected(answer)}`);
  return parsed.data.dossiers;
}

/** Asks for dossiers after `cursor`, as a sweep does. */
const askAfter = (
  sender: ProbeSender,
  cursor: string,
  filter: Readonly<Record<string, string>> = {},
): Promise<ProbeAnswer> =>
  sender.send({
    method: 'GET',
    path: '/dossiers',
    query: { ...filter, per_page: String(perPage), starting_after: cursor },
  });

/** Reads the head and the end of the dossier list by page numbers, in one or two calls; throws UnexpectedAnswer. */
async function readDossierSample(sender: ProbeSender): Promise<DossierSample> {
  const askPage = (page: number): Promise<ProbeAnswer> =>
    sender.send({ method: 'GET', path: '/dossiers', query: { page: String(page), per_page: String(perPage) } });
  const answer = await askPage(1);
  const head = readRows(answer);
  const first = firstPageSchema.safeParse(answer.value);
  if (!first.success) throw new UnexpectedAnswer(`GET /dossiers: ${describeUnexpected(answer)}`);
  const { total, total_pages: pages } = first.data;
  if (pages <= 1) return { total, head, tail: head };
  return { total, head, tail: pages <= lastPage ? readRows(await askPage(pages)) : null };
}

/** The id of a dossier that exists nowhere, in the form the interface gives (interface: Identifier forms). */
export const makeUnknownId = (): string => `dossier_${randomBytes(12).toString('hex')}`;

const field = (answer: ProbeAnswer, key: string): unknown =>
  typeof answer.value === 'object' && answer.value !== null ? Reflect.get(answer.value, key) : undefined;

const describeField = (value: unknown): string => {
  if (value === undefined) return 'absent';
  if (value === null || typeof value === 'boolean') return String(value);
  if (value === '') return 'an empty text';
  return typeof value === 'string' ? 'a cursor' : describeShape(value);
};

const describeEnd = (answer: ProbeAnswer): string =>
  `has_more ${describeField(field(answer, 'has_more'))}, next_cursor ${describeField(field(answer, 'next_cursor'))}`;

const countRows = (rows: readonly SampleRow[]): string => (rows.length === 1 ? '1 dossier' : `${rows.length} dossiers`);

const askEnd = async (sender: ProbeSender, check: string, { total, tail }: DossierSample): Promise<Finding> => {
  const last = tail?.at(-1);
  if (tail === null)
    return doubtful(check, `not reached: ${total} dossiers are more than page numbers show`, 'nothing to set');
  if (last === undefined) return doubtful(check, 'not seen: there are no dossiers', 'probe again when there are some');
  const after = await askAfter(sender, last.id);
  const rows = readRows(after);
  const words = `after it: ${rows.length === 0 ? 'an empty page' : countRows(rows)}, ${describeEnd(after)}`;
  const isSeenBefore = rows.some(({ id }) => tail.some((row) => row.id === id));
  if (isSeenBefore || typeof field(after, 'has_more') !== 'boolean') {
    return wrong(check, words, 'sweeps need `starting_after` to work as the interface says: tell the operators');
  }
  if (rows.length > 0 || field(after, 'has_more') === true) {
    return doubtful(check, words, 'the list may have moved just now: probe again');
  }
  const beforeLast = tail.at(-2);
  if (beforeLast === undefined) return well(check, words);
  const ending = await askAfter(sender, beforeLast.id);
  return well(check, `last page: ${countRows(readRows(ending))}, ${describeEnd(ending)}; ${words}`);
};

const statuses = ['draft', 'open', 'completed', 'archived', 'closed', 'needs_attention', 'approved', 'rejected'];

const oneWalk = 'leave `sweep.windows` at 1: sweeps filter in windows only';

const askFiltered = async (sender: ProbeSender, check: string, { head }: DossierSample): Promise<Finding> => {
  const [cursor, ...following] = head;
  if (cursor === undefined || following.length === 0) {
    return doubtful(check, 'not seen: it takes two dossiers at least', 'probe again when there are some');
  }
  const isTelling = (status: string): boolean => following.some((row) => row.status !== status);
  const present = following.map((row) => row.status).find(isTelling);
  const status = present ?? statuses.find(isTelling) ?? 'draft';
  const rows = readRows(await askAfter(sender, cursor.id, { status }));
  if (rows.some((row) => row.status !== status)) {
    return doubtful(check, 'filters are ignored after a cursor', oneWalk);
  }
  if (present !== undefined && rows.length === 0) {
    return doubtful(check, 'nothing came although dossiers of that status follow', oneWalk);
  }
  const came = rows.length === 0 ? 'none of another status came' : `${rows.length} of ${rows.length} that came have it`;
  return well(check, `a filter by status applies: ${came}`);
};

const askUnknownCursor = async (sender: ProbeSender, check: string): Promise<Finding> => {
  const answer = await askAfter(sender, makeUnknownId());
  if (answer.status >= 400 && answer.status < 500) return well(check, `is refused: ${describeUnexpected(answer)}`);
  const rows = readRows(answer);
  if (rows.length === 0) {
    return doubtful(
      check,
      `gives an empty page, ${describeEnd(answer)}: a deleted dossier's cursor looks like the end of the list`,
      'nothing to set: sweeps compare with the totals, and say unproven when they do not agree',
    );
  }
  return doubtful(
    check,
    `gives ${countRows(rows)}, ${describeEnd(answer)}: the walk starts again somewhere`,
    'nothing to set: sweeps count no dossier twice and stop at a cursor they have seen',
  );
};

/** How the dossier list ends, filters and minds unknown cursors in keyset mode (interface: GET /dossiers); at most six calls. */
export function probeDossiers(sender: ProbeSender): Probe[] {
  let sample: Promise<DossierSample> | undefined;
  const readOnce = (): Promise<DossierSample> => {
    sample ??= readDossierSample(sender);
    return sample;
  };
  const [end, filters, cursor] = ['end of list', 'filters after cursor', 'unknown cursor'] as const;
  return [
    { check: end, ask: async () => askEnd(sender, end, await readOnce()) },
    { check: filters, ask: async () => askFiltered(sender, filters, await readOnce()) },
    { check: cursor, ask: () => askUnknownCursor(sender, cursor) },
  ];
}
