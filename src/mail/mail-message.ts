/** A file that goes with a message; it is sent only while its bytes have this SHA-256 (hex). */
export interface MailAttachment {
  name: string;
  path: string;
  contentType: string;
  sha256: string;
}

/** A message to one recipient, complete: the same message always gives the same bytes. */
export interface MailMessage {
  /** With its angle brackets. */
  messageId: string;
  from: string;
  to: string;
  subject: string;
  date: Date;
  text: string;
  html: string;
  attachments: readonly MailAttachment[];
}
