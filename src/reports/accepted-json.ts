import { z } from 'zod';
import type { AcceptedFacts, CustomerRecordFacts } from './accepted-facts.js';

const acceptedBy = {
  acceptedBy: z.string(),
  isAttested: z.boolean(),
  reason: z.string(),
  acceptedAt: z.iso.datetime(),
};

const recordJson = z.strictObject({
  name: z.string(),
  type: z.string(),
  birthDate: z.string().nullable(),
  countries: z.array(z.string()),
  parties: z.array(z.string()),
});

/** What of `report.json` tells what somebody accepted. */
export const acceptedJson = {
  settingsChanges: z.array(z.strictObject({ differences: z.array(z.string()), ...acceptedBy })),
  rosterAcceptances: z.array(
    z.strictObject({
      heldBy: z.array(z.strictObject({ guard: z.string(), message: z.string() })),
      changes: z.array(z.strictObject({ reference: z.string(), before: recordJson, after: recordJson })),
      ...acceptedBy,
    }),
  ),
};
type AcceptedJson = z.infer<z.ZodObject<typeof acceptedJson>>;

/** What somebody accepted as `report.json` holds it. */
export function toAcceptedJson({ settingsChanges, rosterAcceptances }: AcceptedFacts): AcceptedJson {
  const toWho = (accepted: AcceptedFacts['settingsChanges' | 'rosterAcceptances'][number]) => ({
    acceptedBy: accepted.acceptedBy,
    isAttested: accepted.isAttested,
    reason: accepted.reason,
    acceptedAt: accepted.acceptedAt.toISOString(),
  });
  return {
    settingsChanges: settingsChanges.map((change) => ({ differences: [...change.differences], ...toWho(change) })),
    rosterAcceptances: rosterAcceptances.map((acceptance) => ({
      heldBy: acceptance.heldBy.map(({ guard, message }) => ({ guard, message })),
      changes: acceptance.changes.map(({ reference, before, after }) => ({
        reference,
        before: toRecordJson(before),
        after: toRecordJson(after),
      })),
      ...toWho(acceptance),
    })),
  };
}

const toRecordJson = (record: CustomerRecordFacts): z.infer<typeof recordJson> => ({
  ...record,
  countries: [...record.countries],
  parties: [...record.parties],
});
