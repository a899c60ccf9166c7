import { z } from 'zod';

const textSchema = z.string().min(1).nullish();

/** The answer to a creation (interface: Session, field names not shown): as it came, `session_id` and `url` set from whichever names they have. */
export const createdSessionSchema = z
  .looseObject({
    session_id: textSchema,
    session_token: textSchema,
    token: textSchema,
    id: textSchema,
    url: textSchema,
    verification_url: textSchema,
    qr_base64_png: z.string().nullish(),
  })
  .transform((created, context) => {
    const sessionId = created.session_id ?? created.session_token ?? created.token ?? created.id;
    const url = created.url ?? created.verification_url;
    if (sessionId && url) return { ...created, session_id: sessionId, url };
    context.addIssue({ code: 'custom', message: `holds no ${sessionId ? 'url' : 'session_id'} under any known name` });
    return z.NEVER;
  });
/** A new session: its token as `session_id`, the applicant's `url`, and what else the service sent (interface: Session). */
export type CreatedSession = z.output<typeof createdSessionSchema>;
