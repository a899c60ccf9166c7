import { z } from 'zod';

/** An envelope with exactly one list in it, under whatever name; gives the envelope with that list as `key`. */
export const soleListSchema = (key: string): z.ZodType<Record<string, unknown>> =>
  z.looseObject({}).transform((envelope, context) => {
    const lists = Object.values(envelope).filter((value) => Array.isArray(value));
    if (lists.length === 1) return { ...envelope, [key]: lists[0] };
    const message = `holds ${lists.length} lists where one list of ${key} is meant`;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });
