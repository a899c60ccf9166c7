import { ResponseError } from '../../errors.js';
import type { Answer } from '../operation.js';
import type { DossierListQuery, DossierPage } from './dossier-page.js';

const toWalkError = (code: string, complaint: string, pageNumber: number, answer: Answer<DossierPage>): ResponseError =>
  new ResponseError(code, `GET /dossiers: page ${pageNumber} of the walk ${complaint}`, {
    method: 'GET',
    path: '/dossiers',
    status: answer.status,
    body: answer.body,
  });

const hasMore = (page: DossierPage): boolean => {
  if ('has_more' in page) return page.has_more;
  const shown = (page.page - 1) * page.per_page + page.dossiers.length;
  return page.page < page.total_pages || shown < page.total;
};

const findCursor = (page: DossierPage): string | undefined =>
  ('has_more' in page ? page.next_cursor : undefined) || page.dossiers.at(-1)?.id;

/** Walks the list from `query` to its end (`has_more: false`); throws ResponseError naming the page when the list does not advance. */
export async function* walkDossierPages(
  fetchPage: (query: DossierListQuery) => Promise<Answer<DossierPage>>,
  query: DossierListQuery,
): AsyncGenerator<DossierPage> {
  const { page: firstPage, starting_after: start, ...filters } = query;
  const cursors = new Set<string>(start === undefined ? [] : [start]);
  let next: DossierListQuery =
    start === undefined ? { ...filters, page: firstPage ?? 1 } : { ...filters, starting_after: start };
  for (let pageNumber = 1; ; pageNumber += 1) {
    const answer = await fetchPage(next);
    const page = answer.data;
    const goesOn = hasMore(page);
    // The page before announced more: what has gone is the dossier after which the list was to go on.
    if (!goesOn && page.dossiers.length === 0 && pageNumber > 1) {
      throw toWalkError('list_cursor_gone', 'is empty although the page before it announced more', pageNumber, answer);
    }
    if (goesOn && page.dossiers.length === 0) {
      throw toWalkError('list_page_empty', 'is empty although more is announced', pageNumber, answer);
    }
    const cursor = findCursor(page);
    if (goesOn && (cursor === undefined || cursors.has(cursor))) {
      throw toWalkError('list_cursor_repeated', 'points to a place that was walked before', pageNumber, answer);
    }
    yield page;
    if (!goesOn || cursor === undefined) return;
    cursors.add(cursor);
    next = { ...filters, starting_after: cursor };
  }
}
