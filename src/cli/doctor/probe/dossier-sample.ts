import { z } from 'zod';
import { describeUnexpected } from './describe-answer.js';
import type { ProbeAnswer, ProbeSender } from './probe-sender.js';

const rowSchema = z.looseObject({ id: z.string().min(1), status: z.string(), type: z.string() });
/** What the probes look at in a row of the dossier list (interface: Dossier summary). */
export type SampleRow = z.output<typeof rowSchema>;
const rowsSchema = z.object({ dossiers: z.array(rowSchema) });
const firstPageSchema = rowsSchema.extend({ total: z.number(), total_pages: z.number() });

/** The largest page and the last one that can be asked for by number (interface: Limits). */
const perPage = 100;
const lastPage = 1_000;

/** The head of the dossier list and, when page numbers reach it, its end. */
export interface DossierSample {
  total: number;
  head: readonly SampleRow[];
  /** The last page's rows; null when it lies behind the last page that has a number. */
  tail: readonly SampleRow[] | null;
}

/** An answer that is not what the interface says, in words that hold none of its content. */
export class UnexpectedAnswer extends Error {}

/** The rows of an answer of the dossier list; throws UnexpectedAnswer. */
export function readRows(answer: ProbeAnswer): readonly SampleRow[] {
  const parsed = rowsSchema.safeParse(answer.value);
  if (answer.status !== 200 || !parsed.success)
    throw new UnexpectedAnswer(`GET /dossiers: ${describeUnexpected(answer)}`);
  return parsed.data.dossiers;
}

/** Asks for dossiers after `cursor`, as a sweep does. */
export const askAfter = (
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
export async function readDossierSample(sender: ProbeSender): Promise<DossierSample> {
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
