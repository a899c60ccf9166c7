import type { Readable } from 'node:stream';

/** What was read of a body; `isComplete` is false when it was longer than allowed, and then the rest is not fetched. */
export interface ReadBody {
  bytes: Buffer;
  isComplete: boolean;
}

/** Reads at most `maxBytes` of a body and tells `onBytes` the length of every piece; throws what the stream throws. */
export const readBody = async (
  stream: Readable,
  maxBytes: number,
  onBytes: (length: number) => void,
): Promise<ReadBody> => {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of stream) {
    const bytes = Buffer.from(piece);
    length += bytes.length;
    onBytes(bytes.length);
    // Leaving the loop destroys the stream, and with it the connection.
    if (length > maxBytes) {
      return { bytes: Buffer.concat([...pieces, bytes], length).subarray(0, maxBytes), isComplete: false };
    }
    pieces.push(bytes);
  }
  return { bytes: Buffer.concat(pieces, length), isComplete: true };
};
