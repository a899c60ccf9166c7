import type { z } from 'zod';
import { ConfigError } from '../../errors.js';

/** What an operation is about to send, checked against the interface's limits; throws ConfigError with every problem and without any value. */
export const parseInput = <T>(operationName: string, schema: z.ZodType<T>, input: unknown): T => {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw new ConfigError(
    parsed.error.issues.map(({ path, message }) => ({ where: operationName, path: path.join('.'), message })),
  );
};
