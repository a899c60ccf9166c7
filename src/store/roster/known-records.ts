import { randomInt } from 'node:crypto';
import { z } from 'zod';
import { type Queryable, readValue } from '../database/database.js';

const fullest = 0.75;
const wordDigits = 8;
const seedLimit = 2 ** 32;

/**
 * The records that a roster's customers have, as 63 bits of reference and digest each: 11 bytes a customer. A row can be taken for one of them by
 * mistake (in 1 of 9,000,000 imports that change a million rows), and the comparison must find that. The next import has another seed.
 */
export class KnownRecords {
  readonly #seed = randomInt(seedLimit);
  /** Two words a slot; both are 0 in an empty one. */
  readonly #words: Uint32Array;
  #free: number;
  #high = 0;
  #low = 0;

  /** `most`: how many records there is room for; others are not known. */
  constructor(most: number) {
    // A quarter of the slots stays empty, or a search would go through many.
    this.#words = new Uint32Array(2 * Math.ceil((most + 1) / fullest));
    this.#free = most;
  }

  /** `digest`: its hexadecimal digits, at least 16. */
  has(reference: string, digest: string): boolean {
    const high = Number.parseInt(digest.slice(0, wordDigits), 16);
    this.#hash(reference, high, Number.parseInt(digest.slice(wordDigits, 2 * wordDigits), 16));
    return this.#words[this.#find() + 1] !== 0;
  }

  /** `high` and `low`: the first 64 bits of the digest. */
  add(reference: string, high: number, low: number): void {
    if (this.#free === 0) return;
    this.#hash(reference, high, low);
    const place = this.#find();
    this.#words[place] = this.#high;
    this.#words[place + 1] = this.#low;
    this.#free -= 1;
  }

  /** The place of the key, or the empty one where it belongs. */
  #find(): number {
    const words = this.#words;
    const slots = words.length / 2;
    let place = 2 * Math.trunc((this.#high * slots) / 2 ** 32);
    while (words[place + 1] !== 0 && (words[place + 1] !== this.#low || words[place] !== this.#high)) {
      place = place + 2 === words.length ? 0 : place + 2;
    }
    return place;
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
const whereSql = 'roster_id = $1 and own_digest is null and length(record_digest) >= 8';
const pageRow = z.object({
  references: z.array(z.string()),
  digests: z.instanceof(Buffer),
  last: z.number(),
});

/** Reads the records of the customers that are known by one row alone: of others the row itself is needed to put them together. */
export async function readKnownRecords(database: Queryable, rosterId: number): Promise<KnownRecords> {
  const most = await readValue(database, z.number(), `select count(*)::integer from customer where ${whereSql}`, [
    rosterId,
  ]);
  const known = new KnownRecords(most);
  for (let after = 0; ; ) {
    // As one row: a million rows would take 1 s to receive.
    const [page] = await database.query(
      pageRow,
      `select json_agg(reference) as references, string_agg(substr(record_digest, 1, 8), '') as digests, max(customer_id) as last
       from (
         select customer_id, reference, record_digest from customer
         where ${whereSql} and customer_id > $2 order by customer_id limit $3
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
