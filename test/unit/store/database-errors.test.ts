import { describe, expect, it } from 'vitest';
import { toDatabaseError } from '../../../src/store/database/database.js';

const refuse = (code: string, message: string) => Object.assign(new Error(message), { code, severity: 'ERROR' });

describe('what a database says when two are at work at once', () => {
  it.each([
    ['40P01', 'deadlock detected'],
    ['40001', 'could not serialize access due to concurrent update'],
  ])('is told in words, and %s stays to be read by programs', (code, message) => {
    const error = toDatabaseError(refuse(code, message));
    expect(error.message).toBe(
      'another process changed the same data at the same time, so nothing was stored; run the same command again',
    );
    expect(error).toMatchObject({ code: 'database_error', sqlState: code });
  });

  it('is told of other refusals as the server says it', () => {
    expect(toDatabaseError(refuse('42501', 'permission denied for table run')).message).toBe(
      'permission denied for table run (SQLSTATE 42501)',
    );
  });
});
