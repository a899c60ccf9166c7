import { expect, test } from 'vitest';
import { toConnectError, toQueryError } from '../../../src/roster/postgres-table.js';

const withCode = (code: string): Error => Object.assign(new Error('planted-secret'), { code });

test.each([
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'CERT_HAS_EXPIRED',
])('a certificate that is not accepted (%s) says how to have it accepted', (code) => {
  const error = toConnectError(withCode(code), 'postgres query core', 'db:5432', 'CORE_DATABASE_URL');
  expect(error.code).toBe('tls_failed');
  expect(error.message).toMatch(
    /the database at db:5432 was not accepted .*CORE_DATABASE_URL: sslmode=verify-full&sslrootcert=/,
  );
  expect(error.message).not.toContain('planted-secret');
});

test('a database that stays silent is told apart from a connection that is lost', () => {
  const silent = toQueryError(new Error('Query read timeout'), 'postgres query core', 60_000);
  expect(silent).toMatchObject({
    code: 'roster_broken_off',
    message: expect.stringContaining('no answer for more than 60 s'),
  });
  const lost = toQueryError(new Error('Connection terminated'), 'postgres query core', 60_000);
  expect(lost).toMatchObject({ code: 'roster_broken_off', message: expect.stringContaining('was lost') });
});
