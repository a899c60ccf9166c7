import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assignPartySlots, toPartyKey } from '../../../../src/runs/import/compare-snapshot.js';
import type { SlottedParty } from '../../../../src/store/roster/staging.js';

const party = (role: string, name: string, birthDate: string | null = null): SlottedParty => ({
  role,
  type: 'person',
  name,
  sentName: name,
  birthDate,
  countries: [],
});
const slotsOf = (...parties: (SlottedParty | null)[]): Map<number, SlottedParty> =>
  new Map(parties.flatMap((slotted, place) => (slotted === null ? [] : [[place, slotted] as const])));
const anyParty = fc.record({
  role: fc.constantFrom('director', 'alias'),
  name: fc.constantFrom('A', 'B', 'C', 'D'),
  birthDate: fc.constantFrom(null, '1970', '1980'),
});
const someParties = fc
  .uniqueArray(anyParty, { selector: ({ role, name, birthDate }) => `${role} ${name} ${birthDate}`, maxLength: 8 })
  .map((parties) => parties.map(({ role, name, birthDate }) => party(role, name, birthDate)));

describe('places of parties', () => {
  it('are never given to somebody else: of two with one name each keeps the place of their own birth date', () => {
    const [father, son] = [party('director', 'John Smith', '1940'), party('director', 'John Smith', '1970')];
    const slots = slotsOf(party('customer', 'Firm'), father, son);
    expect(assignPartySlots(slots, [party('customer', 'Firm'), son])).toEqual([party('customer', 'Firm'), null, son]);
  });

  it('stay with whoever has a fact corrected, and the first stays with the customer whatever the name is', () => {
    const slots = slotsOf(party('customer', 'Firm'), party('director', 'Ann'));
    const corrected = [party('customer', 'New Firm'), party('director', 'Ann', '1970')];
    expect(assignPartySlots(slots, corrected)).toEqual(corrected);
    expect(assignPartySlots(slots, [party('director', 'Ben'), party('customer', 'Firm')])).toEqual([
      party('customer', 'Firm'),
      null,
      party('director', 'Ben'),
    ]);
  });

  it('leave the first one empty for a customer of whom no row was ever accepted', () => {
    const parties = [party('conflicting_row', 'Ann'), party('conflicting_row', 'Ben')];
    expect(assignPartySlots(new Map(), parties)).toEqual([null, ...parties]);
  });

  it('hold everybody exactly once, and only new people where nobody ever was', () => {
    fc.assert(
      fc.property(someParties, someParties, (former, parties) => {
        const customer = party('customer', 'Firm');
        const before = assignPartySlots(new Map(), [customer, ...former]);
        const slots = slotsOf(...before);
        const after = assignPartySlots(slots, [customer, ...parties]);
        const keys = after.flatMap((slotted) => (slotted === null ? [] : [toPartyKey(slotted)]));
        expect(keys.toSorted()).toEqual([customer, ...parties].map(toPartyKey).toSorted());
        for (const [place, slotted] of after.entries()) {
          const old = slots.get(place);
          if (slotted && old && place > 0) expect([slotted.role, slotted.sentName]).toEqual([old.role, old.sentName]);
        }
        expect(assignPartySlots(slotsOf(...after), [customer, ...parties.toReversed()])).toEqual(after);
      }),
    );
  });
});
