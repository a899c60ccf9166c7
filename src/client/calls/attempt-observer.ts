/** One HTTP exchange about to be made; `path` has neither query nor base URL, `attempt` counts from 1 within its call. */
export interface Attempt {
  operation: string;
  method: string;
  path: string;
  attempt: number;
  startedAt: Date;
}

/** How an attempt ended, as far as it is known here; `bytes` counts the answer's body as received. */
export interface AttemptEnd {
  endedAt: Date;
  /** Whether the request left this machine: such attempts, and no others, are what the service can have counted. */
  isSent: boolean;
  status: number | null;
  outcome: 'ok' | 'error_status' | 'bad_response' | 'timeout' | 'connection' | 'aborted';
  bytes: number;
  requestId: string | undefined;
  /** The service's own clock by the `Date` header, in whole seconds (RFC 9110, section 6.6.1). */
  servedAt: Date | undefined;
}

/** Is told of every attempt, retries included, before it is made and after it ended; what it throws ends the call. */
export interface AttemptObserver {
  /** Is waited for once it is an attempt's turn, right before it is made, so that a ledger can note it; when it throws, nothing is sent. */
  leaving?(operation: string): Promise<void>;
  started?(attempt: Attempt): void;
  ended?(attempt: Attempt, end: AttemptEnd): void;
}
