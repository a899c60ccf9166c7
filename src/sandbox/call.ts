import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { KeyOwner } from './keys.js';
import type { LedgerEntry } from './ledger.js';

/** What the routes know of the call they answer. */
export interface CallEnv {
  Bindings: HttpBindings;
  Variables: {
    entry: LedgerEntry;
    /** The owner of the key presented; undefined when the key opens nothing. */
    owner: KeyOwner | undefined;
    /** The JSON body, or undefined when there is none or it cannot be read. */
    body: unknown;
  };
}
/** One call on its way through the sandbox. */
export type Call = Context<CallEnv>;
