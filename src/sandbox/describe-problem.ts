import type { z } from 'zod';

/** Says in one line what is wrong with a request. */
export const describeProblem = (error: z.ZodError): string =>
  error.issues.map((issue) => `${issue.path.join('.') || 'body'}: ${issue.message}`).join('; ');
