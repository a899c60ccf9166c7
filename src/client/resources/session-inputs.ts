import { z } from 'zod';
import { filledTextSchema } from './input-schemas.js';

const applicantFields = {
  unique_id: z.string().optional(),
  first_name: z.string().optional(),
  last_name: z.string().optional(),
  email_address: z.string().optional(),
  phone_number: z.string().optional(),
  i18n: z.string().optional(),
};

/** What a new session is made of (interface: POST /sessions, fields not shown); unknown fields are sent as given. */
export const sessionInputSchema = z.looseObject({
  ...applicantFields,
  /** The KYC level; sent under the client's setting for the session's level field. */
  level: filledTextSchema,
  generate_qr: z.boolean().optional(),
});
/** What a new session is made of, by the usual names (interface: POST /sessions, not shown); further fields are sent as given. */
export type SessionInput = z.input<typeof sessionInputSchema>;

/** What of a session changes (interface: POST /sessions/{session_id}, fields not shown); unknown fields are sent as given. */
export const sessionUpdateSchema = z.looseObject({ ...applicantFields, country_code: z.string().optional() });
/** What of a session changes, by the usual names (interface: POST /sessions/{session_id}, not shown); further fields are sent as given. */
export type SessionUpdate = z.input<typeof sessionUpdateSchema>;

/** Where the link for the phone goes (interface: POST /sessions/{session_id}/send_sms, field name not shown); unknown fields are sent as given. */
export const sessionSmsSchema = z.looseObject({ phone_number: filledTextSchema });
/** Where the link for the phone goes (interface: POST /sessions/{session_id}/send_sms); further fields are sent as given. */
export type SessionSms = z.input<typeof sessionSmsSchema>;

/** Whether the applicant agrees; nothing but true and false may be recorded (interface: PATCH /sessions/{session_id}/consent). */
export const consentSchema = z.boolean();
