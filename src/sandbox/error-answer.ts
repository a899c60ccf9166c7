const CODES: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'payment_required',
  403: 'permission_error',
  404: 'not_found',
  405: 'invalid_request_error',
  410: 'session_gone',
  422: 'validation_error',
  429: 'rate_limit_exceeded',
  451: 'consent_required',
  503: 'service_unavailable',
};

/** The body of an error answer (service facts: error body); without a `code` it follows the status (interface: Errors). */
export const toErrorBody = (
  status: number,
  message: string,
  code = CODES[status] ?? 'api_error',
): { error: { type: string; message: string } } => ({ error: { type: code, message } });
