import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Call } from './call.js';
import { toErrorBody } from './error-answer.js';

/** Answers a call with an error; without a `code` it follows the status (interface: Errors). */
export const answerError = (context: Call, status: ContentfulStatusCode, message: string, code?: string): Response =>
  context.json(toErrorBody(status, message, code), status);
