import { z } from 'zod';

/** An email address, checked loosely. */
export const emailSchema = z.string().regex(/^[^\s@]+@[^\s@]+\.[^\s@]+$/, 'is not an email address');

/** A phone number in E.164 or international writing, checked loosely. */
export const phoneSchema = z
  .string()
  .regex(/^\+?[0-9 ().-]+$/, 'is not a phone number')
  .refine((text) => /^\d{7,15}$/.test(text.replace(/\D/g, '')), 'is not a phone number');
