import { z } from 'zod';
import { emailSchema, phoneSchema } from '../contact-data.js';

/** What is known of an applicant (service facts: POST /sessions); other fields are ignored. */
const applicantSchema = z.object({
  unique_id: z.string().optional(),
  first_name: z.string().optional(),
  last_name: z.string().optional(),
  email_address: emailSchema.optional(),
  phone_number: phoneSchema.optional(),
  i18n: z.string().optional(),
});

/** What `POST /sessions` takes. */
export const newSessionSchema = applicantSchema.extend({
  kyc_level: z.string().optional(),
  generate_qr: z.boolean().default(false),
});

/** What `POST /sessions/{session_id}` takes; the level cannot change. */
export const sessionUpdateSchema = applicantSchema.extend({ country_code: z.string().optional() });
