import { ResponseError } from '../../errors.js';
import type { Answer } from '../operation.js';
import type { InvitationPage } from './invitation.js';
import type { InvitationListQuery } from './invitation-inputs.js';

const path = '/autodoc/invitations';

const toWalkError = (
  code: string,
  complaint: string,
  pageNumber: number,
  answer: Answer<InvitationPage>,
): ResponseError =>
  new ResponseError(code, `GET ${path}: page ${pageNumber} ${complaint}`, {
    method: 'GET',
    path,
    status: answer.status,
    body: answer.body,
  });

const hasMore = ({ invitations, pagination }: InvitationPage): boolean => {
  const { page, perPage, total, totalPages } = pagination;
  return page < totalPages || (page - 1) * perPage + invitations.length < total;
};

/** Walks the list from `query` to the end that `pagination` announces; throws ResponseError naming the page when the list does not advance. */
export async function* walkInvitationPages(
  fetchPage: (query: InvitationListQuery) => Promise<Answer<InvitationPage>>,
  query: InvitationListQuery,
): AsyncGenerator<InvitationPage> {
  for (let pageNumber = query.page ?? 1; ; pageNumber += 1) {
    const answer = await fetchPage({ ...query, page: pageNumber });
    const page = answer.data;
    if (page.pagination.page !== pageNumber) {
      throw toWalkError('list_page_not_echoed', 'was asked for, another came', pageNumber, answer);
    }
    const goesOn = hasMore(page);
    if (goesOn && page.invitations.length === 0) {
      throw toWalkError('list_page_empty', 'is empty although more is announced', pageNumber, answer);
    }
    yield page;
    if (!goesOn) return;
  }
}
