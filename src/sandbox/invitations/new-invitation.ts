import { z } from 'zod';
import { emailSchema, phoneSchema } from '../contact-data.js';
import { channelSchema, type Invitation } from './invitation.js';
import { isLocale } from './locales.js';

const MAX_LENGTH = 255;
const DEFAULT_LOCALE = 'en';

/** What a request for an invitation must consist of, whatever the values (service facts: invitation body). */
export const invitationBodySchema = z.object({
  workflowToken: z.string(),
  channel: z.string(),
  recipient: z.string(),
  reference: z.string().nullish(),
  locale: z.string().nullish(),
});

/** The values that an invitation may have (interface: POST /autodoc/invitations). */
export const newInvitationSchema = invitationBodySchema
  .extend({
    channel: channelSchema,
    recipient: z.string().max(MAX_LENGTH),
    reference: z
      .string()
      .max(MAX_LENGTH)
      .nullish()
      .transform((text) => text ?? null),
    locale: z
      .string()
      .refine(isLocale, 'is not a supported locale')
      .nullish()
      .transform((code) => code ?? DEFAULT_LOCALE),
  })
  .refine(({ channel, recipient }) => (channel === 'email' ? emailSchema : phoneSchema).safeParse(recipient).success, {
    path: ['recipient'],
    message: 'does not fit the channel',
  });
/** A valid request for an invitation. */
export type NewInvitation = Pick<Invitation, 'workflowToken' | 'channel' | 'recipient' | 'reference' | 'locale'>;
