import { hostname, userInfo } from 'node:os';

/** Who runs this process, as `user@host`; a user without a name, as in some containers, by number. */
export function findCurrentUser(): string {
  return `${findName()}@${hostname()}`;
}

function findName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
