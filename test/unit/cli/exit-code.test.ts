import { expect, test } from 'vitest';
import { combineExitCodes, InterruptedError, toErrorExitCode } from '../../../src/cli/exit-code.js';
import {
  AuthenticationError,
  BackupError,
  ConfigError,
  DatabaseMissingError,
  FolderOwnerError,
  PaymentRequiredError,
  PermissionError,
  RosterError,
  RunLockedError,
  SchemaError,
  TimeoutError,
} from '../../../src/errors.js';

const call = { method: 'POST', path: '/aml/search' };

test.each([
  [new ConfigError([]), 2],
  [new RosterError('roster_missing', 'no file'), 2],
  [new RunLockedError('held', 'process 1'), 2],
  [new SchemaError('schema_newer', 'newer'), 2],
  [new DatabaseMissingError('there is no database at /data'), 2],
  [new FolderOwnerError('the folder is of another', 'type it as that user'), 2],
  [new BackupError('backup_broken', 'cut'), 2],
  [new AuthenticationError('authentication_error', 'no', { ...call, status: 401 }), 4],
  [new PaymentRequiredError('payment_required', 'no', { ...call, status: 402 }), 4],
  [new PermissionError('forbidden', 'no', { ...call, status: 403 }), 4],
  [new TimeoutError('timeout', 'late', call), 4],
  [new InterruptedError('SIGTERM'), 4],
  [new TypeError('a fault of ours'), 1],
  ['a thrown text', 1],
])('%s ends with exit code %i', (error, exitCode) => {
  expect(toErrorExitCode(error)).toBe(exitCode);
});

test.each([
  [[0, 0], 0],
  [[], 0],
  [[0, 3], 3],
  [[2, 2], 2],
  [[0, 2], 3],
  [[3, 4, 2], 4],
  [[4, 1], 1],
])('runs that ended with %j end the command with %i', (codes, exitCode) => {
  expect(combineExitCodes(codes)).toBe(exitCode);
});
