import { z } from 'zod';
import type { MailMessage } from '../../mail/mail-message.js';

const bodySchema = z.object({ text: z.string(), html: z.string() });

const messageSchema = bodySchema.extend({
  messageId: z.string(),
  from: z.string(),
  to: z.string(),
  subject: z.string(),
  date: z.iso.datetime().transform((text) => new Date(text)),
  attachments: z.array(z.object({ name: z.string(), path: z.string(), contentType: z.string(), sha256: z.string() })),
  thread: z.array(z.string()).optional(),
  reduced: bodySchema.optional(),
  bereft: bodySchema.optional(),
}) satisfies z.ZodType<MailMessage>;

/** The message as it was stored in the outbox; null for anything else. */
export const findStoredMessage = (content: unknown): MailMessage | null =>
  messageSchema.safeParse(content).data ?? null;
