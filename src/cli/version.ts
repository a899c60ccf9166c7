import { createRequire } from 'node:module';
import { z } from 'zod';

/** The version of Nightscreen. */
export const { version } = z.object({ version: z.string() }).parse(createRequire(import.meta.url)('#package.json'));
