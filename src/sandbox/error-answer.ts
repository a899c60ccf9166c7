const CODES: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'payment_required',
  403: 'permission_error',
  404: 'not_found',
  405: 'invalid_request_error',
  422: 'validation_error',
  429: 'rate_limit_exceeded',
  503: 'service_unavailable',
};

/** The body of an error answer (service facts: error body); the code follows the status (interface: Errors). */
export const toErrorBody = (status: number, message: string): { error: { type: string; message: string } } => ({
  error: { type: CODES[status] ?? 'api_error', message },
});
