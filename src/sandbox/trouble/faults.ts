import { z } from 'zod';

const scope = {
  /** How many matching requests it applies to. */
  times: z.number().int().min(1).default(1),
  /** Only requests to this path below the version prefix, for example `/aml/search`. */
  path: z.string().startsWith('/').optional(),
  /** Only requests with this method. */
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']).optional(),
  /** Only searches for this name, as sent. */
  name: z.string().optional(),
  /** It begins after this many further matching requests, which are answered normally. */
  afterCalls: z.number().int().min(0).default(0),
};

const statusFault = z.strictObject({
  ...scope,
  status: z.number().int().min(400).max(599),
  retryAfter: z.string().optional(),
  /** The code in the error body; the status decides by default. */
  code: z.string().optional(),
  body: z.string().optional(),
});
const cutFault = z.strictObject({ ...scope, cut: z.enum(['before_work', 'after_work']) });
const delayFault = z.strictObject({ ...scope, delayMs: z.number().int().min(0).max(600_000) });
const rawFault = z.strictObject({
  ...scope,
  raw: z.strictObject({
    status: z.number().int().min(200).max(599),
    body: z.string(),
    contentType: z.string().optional(),
  }),
});
const hangFault = z.strictObject({ ...scope, hang: z.enum(['before_headers', 'in_body']) });
const hugeFault = z.strictObject({
  ...scope,
  huge: z.strictObject({ megabytes: z.number().positive().max(10_000) }),
});
const redirectFault = z.strictObject({ ...scope, redirect: z.strictObject({ location: z.string().min(1) }) });

/** A scripted fault; the control takes a list of them. */
export const faultSchema = z.union([statusFault, cutFault, delayFault, rawFault, hangFault, hugeFault, redirectFault]);
/** A scripted fault as a caller writes it: an error status, a cut connection, a delay, a hang, a redirect, or a raw or huge answer. */
export type Fault = z.input<typeof faultSchema>;
/** A scripted fault with its defaults filled in. */
export type ActiveFault = z.output<typeof faultSchema>;

/** What a fault may be limited to. */
export interface FaultTarget {
  path: string;
  method: string;
  /** The name searched for. */
  name?: string | undefined;
}

/** The faults that are left, in order. */
export interface FaultScript {
  /** Replaces what is left; throws when a fault is not well-formed. */
  replace(faults: readonly Fault[]): void;
  /** The fault for this request, which it uses up once; undefined when the request is to be answered normally. */
  take(target: FaultTarget): ActiveFault | undefined;
}

const isMeant = (fault: ActiveFault, target: FaultTarget): boolean =>
  (fault.path === undefined || fault.path === target.path) &&
  (fault.method === undefined || fault.method === target.method) &&
  (fault.name === undefined || fault.name === target.name);

/**
 * Keeps faults in order: of those that match a request the first one decides, also while it waits for its
 * `afterCalls`; faults for other paths, methods or names are passed over and keep their place.
 */
export const createFaultScript = (): FaultScript => {
  let left: ActiveFault[] = [];
  return {
    replace: (faults) => {
      left = faults.map((fault) => faultSchema.parse(fault));
    },
    take: (target) => {
      const fault = left.find((candidate) => isMeant(candidate, target));
      if (!fault) return undefined;
      if (fault.afterCalls > 0) {
        fault.afterCalls -= 1;
        return undefined;
      }
      fault.times -= 1;
      if (fault.times === 0) left = left.filter((candidate) => candidate !== fault);
      return fault;
    },
  };
};
