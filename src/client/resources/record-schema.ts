import { z } from 'zod';

/** A record whose fields the interface does not show: an object with something in it, kept as it came. */
export const recordSchema = z
  .looseObject({})
  .refine((record) => Object.keys(record).length > 0, 'holds no field at all');
/** A record whose fields the interface does not show, as it came (interface: Single-record lookups, Session). */
export type ServiceRecord = z.output<typeof recordSchema>;

/** A status message or another short answer that the interface does not show: whatever object came, kept as it is. */
export const statusSchema = z.looseObject({});
/** A status message or result whose fields the interface does not show, as it came (interface: Sessions). */
export type ServiceStatus = z.output<typeof statusSchema>;
