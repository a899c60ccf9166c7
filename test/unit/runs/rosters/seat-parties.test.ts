import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seatParties, toPartyKey } from '../../../../src/runs/import/settle.js';
import type { SeatedParty } from '../../../../src/store/roster-settling.js';

const party = (role: string, name: string, birthDate: string | null = null): SeatedParty => ({
  role,
  type: 'person',
  name,
  sentName: name,
  birthDate,
  countries: [],
});
const seatsOf = (...parties: (SeatedParty | null)[]): Map<number, SeatedParty> =>
  new Map(parties.flatMap((seated, place) => (seated === null ? [] : [[place, seated] as const])));
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
    const seats = seatsOf(party('customer', 'Firm'), father, son);
    expect(seatParties(seats, [party('customer', 'Firm'), son])).toEqual([party('customer', 'Firm'), null, son]);
  });

  it('stay with whoever has a fact corrected, and the first stays with the customer whatever the name is', () => {
    const seats = seatsOf(party('customer', 'Firm'), party('director', 'Ann'));
    const corrected = [party('customer', 'New Firm'), party('director', 'Ann', '1970')];
    expect(seatParties(seats, corrected)).toEqual(corrected);
    expect(seatParties(seats, [party('director', 'Ben'), party('customer', 'Firm')])).toEqual([
      party('customer', 'Firm'),
      null,
      party('director', 'Ben'),
    ]);
  });

  it('leave the first one empty for a customer of whom no row was ever accepted', () => {
    const parties = [party('conflicting_row', 'Ann'), party('conflicting_row', 'Ben')];
    expect(seatParties(new Map(), parties)).toEqual([null, ...parties]);
  });

  it('hold everybody exactly once, and only new people where nobody ever was', () => {
    fc.assert(
      fc.property(someParties, someParties, (former, parties) => {
        const customer = party('customer', 'Firm');
        const before = seatParties(new Map(), [customer, ...former]);
        const seats = seatsOf(...before);
        const after = seatParties(seats, [customer, ...parties]);
        const keys = after.flatMap((seated) => (seated === null ? [] : [toPartyKey(seated)]));
        expect(keys.toSorted()).toEqual([customer, ...parties].map(toPartyKey).toSorted());
        for (const [place, seated] of after.entries()) {
          const old = seats.get(place);
          if (seated && old && place > 0) expect([seated.role, seated.sentName]).toEqual([old.role, old.sentName]);
        }
        expect(seatParties(seatsOf(...after), [customer, ...parties.toReversed()])).toEqual(after);
      }),
    );
  });
});
