/** What a failed attempt at a mail server means. */
export interface SmtpFailure {
  /** `refused`: the server will never take this message (5xx); `failed`: it may later, or it was not reached. */
  kind: 'refused' | 'failed';
  reason: string;
  /** The message is larger than the server takes. */
  isTooLarge: boolean;
  /** No other message would have fared better: there was no connection, or none that may be used. */
  isUnreachable: boolean;
}

// Some servers ask for a login or for encryption at the sender only (RFC 4954, RFC 3207).
const ofTheSetUp: ReadonlySet<unknown> = new Set([530, 534, 535, 538]);
const ofTheMessage: ReadonlySet<unknown> = new Set(['MAIL FROM', 'RCPT TO', 'DATA']);
// Nodemailer says so itself where the server has announced its limit (RFC 1870).
const announcedLimit = /^Message size larger than allowed/;

/** Judges an error of nodemailer by the command that was answered; what a server says about its own set-up is never final. */
export function toSmtpFailure(error: unknown): SmtpFailure {
  const reason = error instanceof Error ? error.message : String(error);
  const code = readFact(error, 'responseCode');
  const isOfMessage = ofTheMessage.has(readFact(error, 'command')) && !ofTheSetUp.has(code);
  const isAboveLimit = announcedLimit.test(reason);
  const isFinal = isAboveLimit || (isOfMessage && typeof code === 'number' && code >= 500);
  const isUnsafe = readFact(error, 'code') === 'ETLS';
  return {
    kind: isFinal ? 'refused' : 'failed',
    reason: isUnsafe ? `nothing was sent, because no verified encryption came about: ${reason}` : reason,
    isTooLarge: isAboveLimit || (isFinal && code === 552),
    isUnreachable: !isOfMessage,
  };
}

const readFact = (error: unknown, name: string): unknown =>
  error instanceof Error ? Object.getOwnPropertyDescriptor(error, name)?.value : undefined;
