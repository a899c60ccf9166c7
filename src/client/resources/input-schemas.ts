import { z } from 'zod';
import { isoDateTimeSchema } from './iso-date-time.js';

/** A text we send that must say something. */
export const filledTextSchema = z.string().regex(/\S/u, 'must not be empty');

/** A filled text of at most 255 characters (interface: Limits). */
export const shortTextSchema = filledTextSchema.refine(
  // The interface counts characters, not the halves of which JavaScript makes some of them.
  (text) => text.length <= 255 || [...text].length <= 255,
  'must not be longer than 255 characters',
);

/** A Date or an ISO 8601 text, sent as a date-time (interface: query parameters of type date-time). */
export const sentDateTimeSchema = z
  .union([z.date(), isoDateTimeSchema], { error: 'must be a Date or an ISO 8601 date-time with its offset' })
  .transform((value) => (value instanceof Date ? value.toISOString() : value));

/** A whole number from 1 to `max`. */
export const countFromOneSchema = (max: number): z.ZodNumber => {
  const message = `must be a whole number from 1 to ${max}`;
  return z.number(message).int(message).min(1, message).max(max, message);
};
