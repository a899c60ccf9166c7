import { z } from 'zod';
import { ConfigError, type ConfigProblem } from '../errors.js';
import { findJwtProblem, findKeyProblem } from './calls/api-key.js';
import type { Pace } from './pace/pace.js';
import { type ServiceSettings, serviceSettingsSchema } from './settings.js';
import { toProblems } from './to-problems.js';
import { findBaseUrlProblem } from './transport/find-base-url-problem.js';

const isFunction = (value: unknown): boolean => typeof value === 'function';
const functionSchema = z.custom<() => unknown>(isFunction, 'must be a function').optional();
const textSchema = z.string('must be a text; is it set?');
const isPace = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'run' in value && isFunction(value.run);

/** What is looked at although its type is known: whoever writes JavaScript has no other guard. */
const partsSchema = z.object({
  baseUrl: textSchema,
  apiKey: textSchema.optional(),
  jwt: textSchema.optional(),
  readKeyAgain: functionSchema,
  random: functionSchema,
  pace: z.custom<Pace>(isPace, 'is no pace; createPace makes one').optional(),
});

const findPartProblems = (parts: z.input<typeof partsSchema>, mode: 'test' | 'live' | undefined): ConfigProblem[] => {
  const problems = toProblems('service', partsSchema.safeParse(parts).error);
  const find = (name: string, look: () => string | undefined): ConfigProblem[] => {
    const where = `service.${name}`;
    const message = problems.some((problem) => problem.where === where) ? undefined : look();
    return message === undefined ? [] : [{ where, path: '', message }];
  };
  const { baseUrl, apiKey, jwt } = parts;
  return [
    ...problems,
    ...find('baseUrl', () => findBaseUrlProblem(baseUrl)),
    ...find('apiKey', () => {
      if (apiKey !== undefined) return findKeyProblem(apiKey, mode);
      return jwt === undefined ? 'must be a text; is NIGHTSCREEN_API_KEY set?' : undefined;
    }),
    ...find('jwt', () => (jwt === undefined ? undefined : findJwtProblem(jwt))),
  ];
};

/** The service settings with their defaults; throws ConfigError with everything that is wrong with them or with the parts beside them. */
export const checkClientSettings = (
  parts: z.input<typeof partsSchema>,
  service: z.input<typeof serviceSettingsSchema>,
): ServiceSettings => {
  const parsed = serviceSettingsSchema.safeParse(service);
  const problems = [...findPartProblems(parts, service.mode), ...toProblems('service', parsed.error)];
  if (!parsed.success || problems.length > 0) throw new ConfigError(problems);
  return parsed.data;
};
