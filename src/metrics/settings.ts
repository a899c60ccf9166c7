import { z } from 'zod';
import { isSafeUrl } from '../loopback.js';

const gatewaySchema = z.string().superRefine((text, context) => {
  const complain = (message: string): void => context.addIssue({ code: 'custom', message });
  if (!URL.canParse(text)) return complain('is not a URL');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') complain('must begin with https:// or http://');
  if (url.username !== '' || url.password !== '') {
    complain('must not hold credentials; pushgatewayUser and pushgatewaySecretEnv say them');
  }
  if (url.search !== '' || url.hash !== '') complain('must not hold a query or a fragment');
});

/** Where commands leave their metrics when they end; the scheduler is asked over HTTP (`schedule --metrics`). */
export const metricsSettingsSchema = z
  .strictObject({
    textfile: z
      .string()
      .regex(/\.prom$/, 'must end in .prom, or no collector reads it')
      .optional()
      .describe('a file for the textfile collector, written whole'),
    pushgateway: gatewaySchema
      .optional()
      .describe('the address of a push gateway, without credentials; https:// where it asks for some'),
    pushgatewayUser: z
      .string()
      .regex(/^[^:]+$/, 'must be a name without a colon')
      .optional()
      .describe('the user of a push gateway that asks for user and password; without it the secret is a bearer token'),
    pushgatewaySecretEnv: z
      .string()
      .regex(/^[A-Z][A-Z0-9_]*$/, 'must be the name of an environment variable')
      .optional()
      .describe('the variable that holds the password or the bearer token (or NAME_FILE)'),
    timeoutMs: z.number().int().min(100).max(60_000).default(10_000).describe('how long a push may take'),
  })
  .superRefine(({ pushgateway, pushgatewayUser, pushgatewaySecretEnv }, context) => {
    const complain = (key: string, message: string): void => context.addIssue({ code: 'custom', path: [key], message });
    if (pushgatewayUser !== undefined && pushgatewaySecretEnv === undefined) {
      complain('pushgatewayUser', 'needs pushgatewaySecretEnv, the variable that holds the password');
    }
    if (pushgatewaySecretEnv === undefined) return;
    if (pushgateway === undefined) return complain('pushgatewaySecretEnv', 'needs pushgateway');
    if (URL.canParse(pushgateway) && !isSafeUrl(new URL(pushgateway))) {
      complain(
        'pushgateway',
        'must begin with https:// where a secret goes with it (http:// is allowed to this machine only)',
      );
    }
  });
/** Where metrics are left. */
export type MetricsSettings = z.output<typeof metricsSettingsSchema>;
