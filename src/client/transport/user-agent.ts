import { createRequire } from 'node:module';
import { z } from 'zod';

const { version } = z.object({ version: z.string() }).parse(createRequire(import.meta.url)('#package.json'));

/** How the client names itself to the service. */
export const userAgent = `nightscreen/${version}`;
