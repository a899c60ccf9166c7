import { describe, expect, it } from 'vitest';
import { oneByOne } from '../../../src/runs/screening/screen-tasks.js';

describe('handing out one by one', () => {
  it('gives each item to one asker, and asks for the next chunk only when the last one has been taken', async () => {
    let taken = 0;
    const seenAtChunk: number[] = [];
    async function* makeChunks(): AsyncGenerator<readonly number[], void> {
      for (const chunk of [[1, 2, 3], [], [4, 5]]) {
        seenAtChunk.push(taken);
        yield chunk;
      }
    }
    const take = oneByOne(makeChunks(), () => {
      taken += 1;
    });
    const given = await Promise.all(Array.from({ length: 8 }, take));
    expect(given).toEqual([1, 2, 3, 4, 5, undefined, undefined, undefined]);
    expect(seenAtChunk).toEqual([0, 3, 3]);
    expect(await take()).toBeUndefined();
  });

  it('rejects for all who wait for a chunk that cannot be made, and then has no more', async () => {
    async function* makeChunks(): AsyncGenerator<readonly number[], void> {
      yield [1];
      throw new Error('not noted');
    }
    const take = oneByOne(makeChunks(), () => undefined);
    const given = await Promise.allSettled([take(), take(), take()]);
    expect(given.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    expect(await take()).toBeUndefined();
  });
});
