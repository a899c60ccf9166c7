import type { z } from 'zod';
import type { ConfigProblem } from '../errors.js';

/** What a schema found wrong with settings, each with its place below `root`. */
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
