import { z } from 'zod';
import { isSafeUrl } from '../loopback.js';
import { customerStates } from '../matches/match.js';

const urlSchema = z.string().superRefine((text, context) => {
  const complain = (message: string): void => context.addIssue({ code: 'custom', message });
  if (!URL.canParse(text)) return complain('is not a URL');
  const url = new URL(text);
  if (!isSafeUrl(url)) complain('must begin with https:// (http:// is allowed to this machine only)');
  if (url.username !== '' || url.password !== '') complain('must not hold credentials; secretEnv says who sends');
  // The address is shown, logged and in every backup.
  if (text.includes('?')) {
    complain('must not hold a query, which would be shown and backed up; put what is public of it into the path');
  }
  if (url.hash !== '') complain('must not hold a fragment');
});

const webhookSchema = z.strictObject({
  url: urlSchema.describe(
    'https:// (http:// to this machine only), without credentials or a query; it is no secret, the one of secretEnv is',
  ),
  secretEnv: z
    .string()
    .regex(/^[A-Z][A-Z0-9_]*$/, 'must be the name of an environment variable')
    .default('NIGHTSCREEN_WEBHOOK_SECRET')
    .describe('the variable that holds its secret, or two of them while one takes the place of the other'),
  states: z
    .array(z.enum(customerStates))
    .min(1)
    .optional()
    .describe('only changes from or to one of these states; all without it'),
  rosters: z.array(z.string().min(1)).min(1).optional().describe('only customers of these rosters; all without it'),
});
/** A system that is told of changes of state. */
export type WebhookSettings = z.output<typeof webhookSchema>;

/** The systems that are told of changes of state, each address once. */
export const webhooksSettingsSchema = z.array(webhookSchema).superRefine((webhooks, context) => {
  for (const [index, { url }] of webhooks.entries()) {
    if (webhooks.findIndex((other) => other.url === url) < index) {
      context.addIssue({ code: 'custom', path: [index, 'url'], message: 'stands here a second time' });
    }
  }
});
