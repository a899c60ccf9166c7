import { z } from 'zod';
import { filledTextSchema } from './input-schemas.js';

/** What a new dossier is made of (interface: POST /dossiers); fields that the interface does not show are sent as given. */
export const dossierInputSchema = z.looseObject({
  type: z.enum(['kyc', 'kyb']),
  /** The verification level, of the same product family as `type`; sent under the client's setting for the level field. */
  level: filledTextSchema,
  /** The service itself delivers the link to `phone_number`. */
  send_sms: z.boolean().optional(),
  /** The service itself delivers the link to `email_address`. */
  send_email: z.boolean().optional(),
  phone_number: filledTextSchema.optional(),
  email_address: filledTextSchema.optional(),
});
/** What a new dossier is made of, with the wire's names but for `level` (interface: POST /dossiers). */
export type DossierInput = z.input<typeof dossierInputSchema>;

const nameSchema = z.string().min(1).nullish();

/** The answer to a creation (interface: POST /dossiers): as it came, and `token` set from whichever name the token has. */
export const createdDossierSchema = z
  .looseObject({
    token: nameSchema,
    id: nameSchema,
    dossier_id: nameSchema,
    verification_url: z.string().min(1),
    qr_base64_png: z.string().nullish(),
  })
  .transform((created, context) => {
    const token = created.token ?? created.dossier_id ?? created.id;
    if (token) return { ...created, token };
    context.addIssue({ code: 'custom', message: 'names the dossier in none of token, id and dossier_id' });
    return z.NEVER;
  });
/** A new dossier: its `token`, the `verification_url` for the applicant, and what else the service sent (interface: POST /dossiers). */
export type CreatedDossier = z.output<typeof createdDossierSchema>;
