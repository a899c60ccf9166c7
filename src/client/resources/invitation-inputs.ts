import { z } from 'zod';
import { countFromOneSchema, filledTextSchema, sentDateTimeSchema, shortTextSchema } from './input-schemas.js';

const channelSchema = z.enum(['email', 'sms']);
const maxInt32 = 2 ** 31 - 1;

/** Whom to invite to what (interface: POST /autodoc/invitations). */
export const invitationInputSchema = z.strictObject({
  /** `wf_<token>`; sent under the client's setting for the workflow field. */
  workflowToken: filledTextSchema,
  channel: channelSchema,
  /** An e-mail address or a phone number, by channel; at most 255 characters. */
  recipient: shortTextSchema,
  /** A name of your own that no other invitation has: with it an invitation whose outcome is unknown can be found again. */
  reference: shortTextSchema.optional(),
  /** A `code` of the locales; the organisation's own by default. */
  locale: filledTextSchema.optional(),
});
/** Whom to invite to what, with the wire's names but for `workflowToken` (interface: POST /autodoc/invitations). */
export type InvitationInput = z.input<typeof invitationInputSchema>;

/** Filters and place of the invitation list with their limits (interface: GET /autodoc/invitations); an unknown filter is refused, since the service would not filter by it. */
export const invitationListQuerySchema = z.strictObject({
  /** Counts from 1. */
  page: countFromOneSchema(maxInt32).optional(),
  /** 1 to 100. */
  per_page: countFromOneSchema(100).optional(),
  workflow_token: filledTextSchema.optional(),
  status: z.enum(['pending', 'sent', 'delivered', 'opened', 'started', 'failed', 'completed', 'rejected']).optional(),
  channel: channelSchema.optional(),
  /** The whole reference. */
  reference: shortTextSchema.optional(),
  date_from: sentDateTimeSchema.optional(),
  date_to: sentDateTimeSchema.optional(),
  /** A part of the recipient, at least 3 characters. */
  search: z.string().min(3, 'must have at least 3 characters').optional(),
});
/** Filters and place of the invitation list, with the wire's names and limits (interface: GET /autodoc/invitations). */
export type InvitationListQuery = z.input<typeof invitationListQuerySchema>;
