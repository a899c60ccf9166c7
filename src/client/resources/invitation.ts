import { z } from 'zod';
import { isoDateTimeSchema } from './iso-date-time.js';

/** An envelope with exactly one list in it, under whatever name; gives the envelope with that list as `key`. */
const soleListSchema = (key: string): z.ZodType<Record<string, unknown>> =>
  z.looseObject({}).transform((envelope, context) => {
    const lists = Object.values(envelope).filter((value) => Array.isArray(value));
    if (lists.length === 1) return { ...envelope, [key]: lists[0] };
    const message = `holds ${lists.length} lists where one list of ${key} is meant`;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });

const dateTimeSchema = isoDateTimeSchema.nullish();

/** An invitation (interface: Workflow invitation, fields beyond it by their usual names); unknown fields and states are kept. */
export const invitationSchema = z.looseObject({
  status: z.string().min(1),
  token: z.string().min(1).nullish(),
  channel: z.string().nullish(),
  recipient: z.string().nullish(),
  reference: z.string().nullish(),
  deliveryAttempts: z.number().int().nonnegative().nullish(),
  errorMessage: z.string().nullish(),
  dossierToken: z.string().nullish(),
  sentAt: dateTimeSchema,
  startedAt: dateTimeSchema,
  completedAt: dateTimeSchema,
  rejectedAt: dateTimeSchema,
  createdAt: dateTimeSchema,
  expiresAt: dateTimeSchema,
});
/** An invitation, with the wire's names; what the interface does not promise may be missing (interface: Workflow invitation). */
export type Invitation = z.output<typeof invitationSchema>;

const count = z.number().int().nonnegative();
/** A page of the invitation list (interface: GET /autodoc/invitations); the list's own name is not shown, it is always read as `invitations`. */
export const invitationPageSchema = soleListSchema('invitations').pipe(
  z.object({
    invitations: z.array(invitationSchema),
    pagination: z.object({ total: count, totalPages: count, page: count, perPage: count }),
  }),
);
/** A page of the invitation list (interface: GET /autodoc/invitations). */
export type InvitationPage = z.output<typeof invitationPageSchema>;

/** The supported locales (interface: Locale entry), bare or in an envelope that is not shown. */
export const localesSchema = z
  .unknown()
  .transform((answer) => (Array.isArray(answer) ? { locales: answer } : answer))
  .pipe(soleListSchema('locales'))
  .pipe(z.object({ locales: z.array(z.object({ code: z.string().min(1), name: z.string() })) }));
/** The values that `locale` may have, each with its name for people (interface: Locale entry). */
export type Locales = z.output<typeof localesSchema>;
