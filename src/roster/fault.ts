import type { RejectReason } from './customer.js';
import type { BoundColumn } from './find-columns.js';

/** Why a row is refused, the column at fault where one is, and what stands there. */
export class Fault {
  readonly reason: RejectReason;
  readonly column: BoundColumn | null;
  readonly text: string;

  constructor(reason: RejectReason, column: BoundColumn | null, text: string) {
    this.reason = reason;
    this.column = column;
    this.text = text;
  }
}
