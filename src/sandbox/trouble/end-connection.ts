import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Call } from '../calls.js';

/** Cuts the connection; nothing more is sent. */
export const cutConnection = (context: Call): void => {
  context.env.incoming.socket.destroy();
  context.res = RESPONSE_ALREADY_SENT;
};

/** Sends nothing and keeps the connection; resolves when the caller or the sandbox closes it. */
export const hangConnection = async (context: Call): Promise<void> => {
  const { socket } = context.env.incoming;
  // Not events.once: a reset connection is an error there, and here just one way to end.
  if (!socket.destroyed) await new Promise<void>((resolve) => socket.once('close', () => resolve()));
  context.res = RESPONSE_ALREADY_SENT;
};
