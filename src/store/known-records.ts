import { randomInt } from 'node:crypto';
import { z } from 'zod';
import type { Queryable } from './database/database.js';

const firstSlots = 1_024;
const wordDigits = 8;
const seedLimit = 2 ** 32;

/**
 * The records that a roster's customers have, as 63 bits of reference and digest each: at most 22 bytes a customer. A row can be taken for one
 * of them by mistake (in 1 of 9,000,000 imports that change a million rows), and the comparison must find that. The next import has another seed.
 */
export class KnownRecords {
  readonly #seed = randomInt(seedLimit);
  /** Two words a slot; both are 0 in an empty one. */
  #words = new Uint32Array(2 * firstSlots);
  #count = 0;
  #high = 0;
  #low = 0;

  /** `digest`: its hexadecimal digits, at least 16. */
  has(reference: string, digest: string): boolean {
    if (this.#count === 0) return false;
    const high = Number.parseInt(digest.slice(0, wordDigits), 16);
    this.#hash(reference, high, Number.parseInt(digest.slice(wordDigits, 2 * wordDigits), 16));
    return this.#words[this.#find(this.#high, this.#low) + 1] !== 0;
  }

  /** `high` and `low`: the first 64 bits of the digest. */
  add(reference: string, high: number, low: number): void {
    if (8 * this.#count >= 3 * this.#words.length) this.#grow();
    this.#hash(reference, high, low);
    this.#put(this.#high, this.#low);
    this.#count += 1;
  }

  #put(high: number, low: number): void {
    const place = this.#find(high, low);
    this.#words[place] = high;
    this.#words[place + 1] = low;
  }

  /** The place of the key, or the empty one where it belongs. */
  #find(high: number, low: number): number {
    const words = this.#words;
    const mask = words.length - 1;
    for (let place = (high << 1) & mask; ; place = (place + 2) & mask) {
      const found = words[place + 1];
      if (found === 0 || (found === low && words[place] === high)) return place;
    }
  }

  #grow(): void {
    const former = this.#words;
    this.#words = new Uint32Array(2 * former.length);
    for (let place = 0; place < former.length; place += 2) {
      const low = former[place + 1] ?? 0;
      if (low !== 0) this.#put(former[place] ?? 0, low);
    }
  }

  /** Sets the key: the digest is random already, so a simple hash of the reference suffices. */
  #hash(reference: string, digestHigh: number, digestLow: number): void {
    let one = this.#seed;
    let other = ~this.#seed;
    for (let index = 0; index < reference.length; index += 1) {
      const unit = reference.charCodeAt(index);
      one = Math.imul(one ^ unit, 2_654_435_761);
      other = Math.imul(other ^ unit, 1_597_334_677);
    }
    const mixed = Math.imul(one ^ (one >>> 16), 2_246_822_507) ^ Math.imul(other ^ (other >>> 13), 3_266_489_909);
    other = Math.imul(other ^ (other >>> 16), 2_246_822_507) ^ Math.imul(mixed ^ (mixed >>> 13), 3_266_489_909);
    this.#high = (mixed ^ digestHigh) >>> 0;
    this.#low = ((other ^ digestLow) | 1) >>> 0;
  }
}

const pageSize = 20_000;
const pageRow = z.object({
  references: z.array(z.string()),
  digests: z.instanceof(Buffer),
  last: z.number(),
});

/** Reads the records of the customers that are known by one row alone: of others the row itself is needed to put them together. */
export async function readKnownRecords(database: Queryable, rosterId: number): Promise<KnownRecords> {
  const known = new KnownRecords();
  for (let after = 0; ; ) {
    // As one row: a million rows would take 1 s to receive.
    const [page] = await database.query(
      pageRow,
      `select json_agg(reference) as references, string_agg(substr(record_digest, 1, 8), '') as digests, max(customer_id) as last
       from (
         select customer_id, reference, record_digest from customer
         where roster_id = $1 and own_digest is null and length(record_digest) >= 8 and customer_id > $2 order by customer_id limit $3
       ) page having count(*) > 0`,
      [rosterId, after, pageSize],
    );
    if (page === undefined) return known;
    const { references, digests, last } = page;
    for (const [index, reference] of references.entries()) {
      known.add(reference, digests.readUInt32BE(8 * index), digests.readUInt32BE(8 * index + 4));
    }
    if (references.length < pageSize) return known;
    after = last;
  }
}
