import { join } from 'node:path';
import { makeFolder } from '../files.js';
import type { MailMessage } from './mail-message.js';
import { renderMessage } from './render-message.js';
import { writeWhole } from './write-whole.js';

/** Writes the message as a `.eml` file (0600) named after its Message-ID and returns the path; the same message always has the same file. */
export async function writeEml(message: MailMessage, directory: string): Promise<string> {
  const bytes = await renderMessage(message);
  await makeFolder(directory, 'set mail.directory to another folder');
  const name = `${message.messageId.replace(/[^\w.-]+/g, '_').replace(/^_+|_+$/g, '')}.eml`;
  const path = join(directory, name);
  return writeWhole(path, async (file) => {
    await file.writeFile(bytes);
    return path;
  });
}
