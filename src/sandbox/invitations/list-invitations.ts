import { z } from 'zod';
import { describeProblem } from '../describe-problem.js';
import { channelSchema, type Invitation, invitationStatusSchema } from './invitation.js';

const instant = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));

const querySchema = z.object({
  page: z.coerce.number().int().min(1).default(1),
  per_page: z.coerce.number().int().min(1).max(100).default(20),
  workflow_token: z.string().optional(),
  status: invitationStatusSchema.optional(),
  channel: channelSchema.optional(),
  reference: z.string().optional(),
  date_from: instant.optional(),
  date_to: instant.optional(),
  search: z.string().min(3).optional(),
});
type Query = z.infer<typeof querySchema>;

/** One page of invitations, or what is wrong with the request (interface: GET /autodoc/invitations). */
export type InvitationPage =
  | {
      invitations: Invitation[];
      pagination: { total: number; totalPages: number; page: number; perPage: number };
    }
  | { problem: string };

const isWanted = (invitation: Invitation, query: Query): boolean =>
  (query.workflow_token === undefined || invitation.workflowToken === query.workflow_token) &&
  (query.status === undefined || invitation.status === query.status) &&
  (query.channel === undefined || invitation.channel === query.channel) &&
  (query.reference === undefined || invitation.reference === query.reference) &&
  (query.date_from === undefined || invitation.createdAtMs >= query.date_from) &&
  (query.date_to === undefined || invitation.createdAtMs <= query.date_to) &&
  (query.search === undefined || invitation.recipient.toLowerCase().includes(query.search.toLowerCase()));

/** Picks a page out of invitations that come newest first. */
export const listInvitations = (
  newestFirst: readonly Invitation[],
  parameters: Record<string, string>,
): InvitationPage => {
  const parsed = querySchema.safeParse(parameters);
  if (!parsed.success) return { problem: describeProblem(parsed.error) };
  const { page, per_page: perPage } = parsed.data;
  const wanted = newestFirst.filter((invitation) => isWanted(invitation, parsed.data));
  return {
    invitations: wanted.slice((page - 1) * perPage, page * perPage),
    pagination: { total: wanted.length, totalPages: Math.ceil(wanted.length / perPage), page, perPage },
  };
};
