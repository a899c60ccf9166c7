import { randomBytes } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { MailMessage } from './mail-message.js';
import { renderMessage } from './render-message.js';

/** Writes the message as a `.eml` file (0600) named after its Message-ID and returns the path; the same message always has the same file. */
export async function writeEml(message: MailMessage, directory: string): Promise<string> {
  const bytes = await renderMessage(message);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const name = `${message.messageId.replace(/[^\w.-]+/g, '_').replace(/^_+|_+$/g, '')}.eml`;
  const path = join(directory, name);
  const passing = join(directory, `.${name}.${randomBytes(6).toString('hex')}.tmp`);
  try {
    const file = await open(passing, 'wx', 0o600);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(passing, path);
  } catch (error) {
    await rm(passing, { force: true });
    throw error;
  }
  return path;
}
