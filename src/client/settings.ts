import { z } from 'zod';
import type { ConfigProblem } from '../errors.js';
import { isSafeUrl } from '../loopback.js';

const mebibyte = 1_048_576;

const fieldName = z.string().regex(/^[A-Za-z][A-Za-z0-9_.-]*$/, 'must be a plain field name');

const isFree = (taken: readonly string[]): [(field: string) => boolean, string] => [
  (field) => !taken.includes(field),
  'is taken by the request itself',
];

/** The `service` part of the configuration, strict, with all defaults. */
export const serviceSettingsSchema = z.strictObject({
  baseUrl: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('with the version prefix, as in https://service.example/v1; http:// only to this machine'),
  proxy: z
    .union([
      z.literal('none'),
      z.url({ protocol: /^https?$/ }).refine((url) => new URL(url).username === '' && new URL(url).password === '', {
        error: 'must not hold credentials; put the whole address into HTTPS_PROXY instead',
      }),
    ])
    .optional()
    .describe('proxy for the requests to the service, instead of HTTPS_PROXY and NO_PROXY; `none` uses no proxy'),
  // Interface: Mode rules 1.
  mode: z.literal(['test', 'live']).optional().describe('must agree with the key and with the answer of the service'),
  rate: z
    .strictObject({
      perSecond: z
        .number()
        .positive()
        .max(100_000)
        .default(10)
        .describe(
          'limit of the attempts in any sliding second, retries included; a fraction above one is rounded down; above 1,000 a tenth of it is left unused',
        ),
      concurrency: z
        .number()
        .int()
        .min(1)
        .max(1_000)
        .default(8)
        .describe('attempts of one process in flight at the same time'),
    })
    .prefault({})
    .describe('how fast the service may be called; on Postgres by all processes of the account together'),
  timeoutSeconds: z
    .number()
    .positive()
    .max(3_600)
    .default(30)
    .describe('total deadline of one attempt: connect, headers and body'),
  // Interface: Authentication 1.
  authentication: z
    .literal(['basic', 'bearer'])
    .default('basic')
    .describe('how the private key is presented: as user name, or as bearer token'),
  retry: z
    .strictObject({
      maxAttempts: z.number().int().min(1).max(100).default(6).describe('attempts per call, the first one included'),
      baseDelayMs: z
        .number()
        .int()
        .min(1)
        .default(500)
        .describe('back-off: a random wait up to base, twice base, four times base ...'),
      maxDelayMs: z.number().int().min(1).max(3_600_000).default(20_000).describe('... and never longer than this'),
    })
    .prefault({})
    .describe('when an attempt is repeated, and after which delay'),
  maxResponseBytes: z
    .number()
    .int()
    .min(1_024)
    .default(16 * mebibyte)
    .describe('a longer answer is not read to the end and counts as invalid'),
  aml: z
    .strictObject({
      // The interface does not show it (interface: AML search).
      nameField: fieldName
        .refine((field) => field !== 'type', 'is taken by the search itself')
        .default('name')
        .describe("name of the search's name parameter"),
    })
    .prefault({})
    .describe('what the interface leaves open about searches'),
  dossiers: z
    .strictObject({
      // The interface does not show it (interface: Dossiers).
      levelField: fieldName
        .refine(...isFree(['type', 'send_sms', 'send_email', 'phone_number', 'email_address']))
        .default('level')
        .describe('name of the level in POST /dossiers; matters only to the library'),
    })
    .prefault({})
    .describe('what the interface leaves open about dossiers'),
  invitations: z
    .strictObject({
      // The interface does not show it (interface: Workflow invitations).
      workflowField: fieldName
        .refine(...isFree(['channel', 'recipient', 'reference', 'locale']))
        .default('workflowToken')
        .describe('name of the workflow in POST /autodoc/invitations'),
    })
    .prefault({})
    .describe('what the interface leaves open about invitations'),
  sessions: z
    .strictObject({
      // The interface does not show it (interface: Sessions).
      levelField: fieldName
        .refine(
          ...isFree(['unique_id', 'first_name', 'last_name', 'email_address', 'phone_number', 'i18n', 'generate_qr']),
        )
        .default('kyc_level')
        .describe('name of the level in POST /sessions; matters only to the library'),
    })
    .prefault({})
    .describe('what the interface leaves open about sessions'),
});
/** The problems that a schema found, each with its place below `root`. */
export const toProblems = (root: string, error: z.ZodError | undefined): ConfigProblem[] =>
  (error?.issues ?? []).flatMap((issue) => {
    const at = (path: readonly PropertyKey[], message: string): ConfigProblem => ({
      where: [root, ...path].map(String).join('.'),
      path: '',
      message,
    });
    if (issue.code !== 'unrecognized_keys') return [at(issue.path, issue.message)];
    return issue.keys.map((key) => at([...issue.path, key], 'unknown setting'));
  });

/** The problem of a base URL, or undefined; clear text is allowed to this machine only. */
export const findBaseUrlProblem = (baseUrl: string): string | undefined => {
  if (!URL.canParse(baseUrl)) return 'is not a URL';
  const url = new URL(baseUrl);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must begin with https://';
  if (!isSafeUrl(url)) {
    return 'must begin with https:// (http:// only for this machine, such as http://127.0.0.1:8080/v1)';
  }
  if (url.username !== '' || url.password !== '') return 'must not hold credentials';
  if (url.search !== '' || url.hash !== '') return 'must not hold a query or a fragment';
  return undefined;
};
