import type { RosterAcceptanceFacts } from '../../reports/accepted-facts.js';
import type { Acceptance } from './acceptance.js';

/** Who took a roster against these guards, as it is kept with the run. */
export const toAcceptanceFacts = (
  { by, reason }: Acceptance,
  heldBy: RosterAcceptanceFacts['heldBy'],
  acceptedAt: Date,
): RosterAcceptanceFacts => ({
  acceptedBy: by.name,
  isAttested: by.isAttested,
  reason,
  acceptedAt,
  heldBy,
  changes: [],
});
