/**
 * Hands out one by one what comes in chunks, to many askers; undefined when there is no more. The next chunk is asked for when the last item
 * of the one before has been taken, and rejects for all who wait for it. `onTaken` is called before anybody else can ask.
 */
export function oneByOne<Item>(
  chunks: AsyncIterator<readonly Item[], void>,
  onTaken: () => void,
): () => Promise<Item | undefined> {
  let items: Iterator<Item> = [][Symbol.iterator]();
  let isOver = false;
  let asking: Promise<void> | undefined;

  const ask = async (): Promise<void> => {
    try {
      const next = await chunks.next();
      if (next.done) isOver = true;
      else items = next.value[Symbol.iterator]();
    } finally {
      asking = undefined;
    }
  };

  return async () => {
    for (;;) {
      const item = items.next();
      if (!item.done) {
        onTaken();
        return item.value;
      }
      if (isOver) return undefined;
      asking ??= ask();
      await asking;
    }
  };
}
