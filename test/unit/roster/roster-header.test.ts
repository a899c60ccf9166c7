import { expect, test } from 'vitest';
import { RosterError } from '../../../src/errors.js';
import { readText } from './read-text.js';

async function failure(content: string, columns: unknown = {}): Promise<RosterError> {
  const error: unknown = await readText(content, { columns }).catch((thrown: unknown) => thrown);
  if (!(error instanceof RosterError)) throw new Error('expected a RosterError', { cause: error });
  return error;
}

test('all missing columns are named at once, with the header that was found and how to map', async () => {
  const error = await failure('kundennr;art;name\n1;person;A\n', { birthDate: 'geboren' });
  expect(error.code).toBe('column_missing');
  expect(error.message).toMatch(
    /no column "customer_id", "type", "geboren"\. The header has "kundennr", "art", "name"\..*columns:/s,
  );
});

test('two columns of one name are refused', async () => {
  const error = await failure('customer_id,type,name,name\n1,person,A,B\n');
  expect(error).toMatchObject({ code: 'duplicate_header', message: expect.stringContaining('"name"') });
});
