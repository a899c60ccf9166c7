import { createHmac } from 'node:crypto';

/** Of the false positives of an older system, how many somebody here looks at. */
const share = 0.05;

/**
 * Whether an item belongs to the sample: always the same for an item, whatever list it comes by, and told by nobody without the organisation's
 * key, so that whoever brings the list does not choose what is looked at.
 */
export function isSampled(itemId: number, digestKey: Buffer): boolean {
  const digest = createHmac('sha256', digestKey).update(`legacy sample ${itemId}`).digest();
  return digest.readUInt32BE(0) < share * 2 ** 32;
}
