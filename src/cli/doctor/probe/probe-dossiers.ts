import { doubtful, type Finding, well, wrong } from '../finding.js';
import { describeShape, describeUnexpected } from './describe-answer.js';
import { askAfter, type DossierSample, readDossierSample, readRows, type SampleRow } from './dossier-sample.js';
import { makeUnknownId } from './make-unknown-id.js';
import type { Probe } from './probe.js';
import type { ProbeAnswer, ProbeSender } from './probe-sender.js';

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
