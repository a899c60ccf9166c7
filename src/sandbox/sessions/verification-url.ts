/** The link that opens a session for the applicant, on the host of `requestUrl`; its last part is the session's token. */
export const toVerificationUrl = (requestUrl: string, sessionId: string): string =>
  `${new URL(requestUrl).origin}/verify/${sessionId}`;
