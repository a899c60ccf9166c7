import { html } from 'hono/html';
import type { MailBody, MailMessage } from './mail-message.js';

/** The message without its attachments, for a server that takes none of that size: it says what is missing and which digest it has. */
export function reduceMessage(message: MailMessage): MailMessage {
  return { ...message, ...(message.reduced ?? nameMissing(message, tooLarge)), attachments: [] };
}

/** The message without its attachments, for when they are no longer there: better than no message. */
export function leaveAttachments(message: MailMessage): MailMessage {
  return { ...message, ...(message.bereft ?? nameMissing(message, gone)), attachments: [] };
}

const tooLarge = 'because the mail server takes no message of this size';
const gone = 'because it is no longer where it was written';

function nameMissing({ attachments, text, html: page }: MailMessage, because: string): MailBody {
  const lines = attachments.map(({ name, sha256 }) => `Not attached, ${because}: ${name}, SHA-256 ${sha256}`);
  const paragraphs = lines.map((line) => String(html`<p>${line}</p>\n`)).join('');
  return {
    text: `${text}\n${lines.join('\n')}\n`,
    html: page.replace(/(?=<\/body>)|$/, () => paragraphs),
  };
}
