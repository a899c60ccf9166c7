const TRICKLE_MS = 200;
const PIECE_BYTES = 65_536;
const BYTES_PER_MEGABYTE = 1_048_576;

/** A body of one space every 200 ms that goes on until the connection is closed. */
export const createTricklingBody = (): ReadableStream<Uint8Array> => {
  let timer: NodeJS.Timeout | undefined;
  return new ReadableStream({
    start: (controller) => {
      const space = new TextEncoder().encode(' ');
      timer = setInterval(() => controller.enqueue(space), TRICKLE_MS);
      timer.unref();
    },
    cancel: () => clearInterval(timer),
  });
};

/** A JSON body of that many megabytes that is made while it is read and never held in memory. */
export const createHugeBody = (megabytes: number): ReadableStream<Uint8Array> => {
  const encoder = new TextEncoder();
  const piece = encoder.encode('x'.repeat(PIECE_BYTES));
  let leftBytes = megabytes * BYTES_PER_MEGABYTE;
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => controller.enqueue(encoder.encode('{"filler":"')),
      pull: (controller) => {
        if (leftBytes <= 0) {
          controller.enqueue(encoder.encode('"}'));
          controller.close();
          return;
        }
        controller.enqueue(piece.subarray(0, Math.min(PIECE_BYTES, leftBytes)));
        leftBytes -= PIECE_BYTES;
      },
    },
    { highWaterMark: 1 },
  );
};
