import { z } from 'zod';
import { emailSchema, phoneSchema } from '../contact-data.js';
import { makeHumanizedToken, makeToken } from '../make-token.js';
import type { SandboxDossier } from '../world.js';

/** What `POST /dossiers` takes (service facts: `level`, and `generate_qr` as for sessions); other fields are ignored. */
export const newDossierSchema = z
  .object({
    type: z.enum(['kyc', 'kyb']),
    level: z.string().min(1),
    send_sms: z.boolean().default(false),
    send_email: z.boolean().default(false),
    phone_number: phoneSchema.optional(),
    email_address: emailSchema.optional(),
    generate_qr: z.boolean().default(false),
    name: z.string().optional(),
    reference: z.string().optional(),
  })
  .refine((request) => !request.send_sms || request.phone_number !== undefined, {
    path: ['phone_number'],
    message: 'is needed to send an SMS',
  })
  .refine((request) => !request.send_email || request.email_address !== undefined, {
    path: ['email_address'],
    message: 'is needed to send an email',
  });
/** A valid request for a new dossier. */
export type NewDossier = z.output<typeof newDossierSchema>;

/** An open dossier made at `nowMs`, with tokens of its own. */
export const toDossier = (request: NewDossier, isTest: boolean, nowMs: number): SandboxDossier => {
  const now = new Date(nowMs).toISOString();
  return {
    id: `dossier_${makeToken()}`,
    token: makeHumanizedToken(),
    type: request.type,
    status: 'open',
    name: request.name ?? request.email_address ?? request.phone_number ?? 'New applicant',
    reference: request.reference ?? null,
    risk_score: null,
    is_test: isTest,
    download_status: 'not_downloaded',
    documents_count: 0,
    created_at: now,
    updated_at: now,
    completed_at: null,
  };
};
