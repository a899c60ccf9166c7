/** A file that goes with a message; it is sent only while its bytes have this SHA-256 (hex). */
export interface MailAttachment {
  name: string;
  path: string;
  contentType: string;
  sha256: string;
}

/** What a message says in both its forms. */
export interface MailBody {
  text: string;
  html: string;
}

/** A message to one recipient, complete: the same message always gives the same bytes. */
export interface MailMessage extends MailBody {
  /** With its angle brackets. */
  messageId: string;
  from: string;
  to: string;
  subject: string;
  date: Date;
  attachments: readonly MailAttachment[];
  /** The Message-IDs of earlier mail that it follows, the one before it last. */
  thread?: readonly string[] | undefined;
  /** What it says without its attachments when the server takes none of that size; by default the same and their digests. */
  reduced?: MailBody | undefined;
  /** What it says without its attachments when they are no longer there; by default the same and their digests. */
  bereft?: MailBody | undefined;
}
