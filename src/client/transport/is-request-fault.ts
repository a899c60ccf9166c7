const codes = /^(UND_ERR_INVALID_ARG|UND_ERR_NOT_SUPPORTED|ERR_INVALID_(CHAR|HTTP_TOKEN|URL))$/;

/** Whether an exchange failed because our own request is invalid by itself, such as a header that holds a line break: nothing was sent. */
export const isRequestFault = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && codes.test(error.code);
