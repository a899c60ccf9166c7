// Opens a sealed text of a pack of evidence: node open-sealed.mjs KEY ABOUT SEALED, as docs/evidence.md describes. Needs Node.js only.
import { createDecipheriv } from 'node:crypto';

const [key = '', about = '', sealed = ''] = process.argv.slice(2);
const bytes = Buffer.from(sealed, 'base64');
const decipher = createDecipheriv('aes-256-gcm', Buffer.from(key, 'base64'), bytes.subarray(0, 12));
decipher.setAAD(Buffer.from(about)).setAuthTag(bytes.subarray(-16));
process.stdout.write(`${decipher.update(bytes.subarray(12, -16), null, 'utf8')}${decipher.final('utf8')}\n`);
