import { describe, expect, it, test } from 'vitest';
import { RosterError } from '../../../src/errors.js';
import { mailSettingsSchema } from '../../../src/mail/settings.js';
import { buildFailureMails } from '../../../src/runs/mail/failures.js';
import { readText } from './read-text.js';

const mailSettings = mailSettingsSchema.parse({ transport: 'smtp', from: 'n@bank.example', to: ['a@bank.example'] });

async function failure(content: string, columns: unknown = {}): Promise<RosterError> {
  const error: unknown = await readText(content, { columns }).catch((thrown: unknown) => thrown);
  if (!(error instanceof RosterError)) throw new Error('expected a RosterError', { cause: error });
  return error;
}

test('all missing columns are named at once, with what was found of the mapped ones and how to map', async () => {
  const error = await failure('kundennr;art;name\n1;person;A\n', { birthDate: 'geboren' });
  expect(error.code).toBe('column_missing');
  expect(error.message).toMatch(
    /no column "customer_id", "type", "geboren"\. The first line has 3 columns, the mapped ones among them are "name"\. .*roster inspect FILE.*columns:/s,
  );
});

test('two columns of one name are refused by their places', async () => {
  const error = await failure('customer_id,type,name,name\n1,person,A,B\n');
  expect(error).toMatchObject({ code: 'duplicate_header', message: expect.stringContaining('columns 3, 4') });
});

describe('a first line that is a customer', () => {
  const rows = [
    'C-10001,person,مروان البستاني,1959,lb,medium',
    'C-10002,person,Ann Lee,1959,Lee,Ann Lee',
    'C-10003,person,Tuğçe Yıldızoğlan,,,',
  ];
  const mappings = [{}, { id: 'no', name: ['first', 'last'], type: { value: 'person' } }];
  it.each(rows)('is quoted neither by the error nor by the mail that tells it (%#)', async (row) => {
    for (const columns of mappings) {
      const error = await failure(`${row}\n${row}\n`, columns);
      const work = { task: 'rescreen', roster: 'retail', error };
      const [mail] = buildFailureMails(
        work,
        { mail: mailSettings, timezone: 'UTC', organisation: 'default' },
        new Date(0),
      );
      expect(mail?.subject).toContain('did not run');
      // Any short number may come up in the digits of a message id.
      const reported = JSON.stringify([error.message, { ...mail, messageId: '' }]);
      for (const cell of row.split(',').filter((cell) => cell.length > 2 && cell !== 'person')) {
        expect(reported).not.toContain(cell);
      }
      if (error.code === 'column_missing') {
        expect(error.message).toContain('The first line has 6 columns, none of them mapped');
      }
      expect(error.message).toContain('`header: false`');
    }
  });
});
