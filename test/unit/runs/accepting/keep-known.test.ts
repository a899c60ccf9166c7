import { expect, it } from 'vitest';
import { z } from 'zod';
import { keepKnown } from '../../../../src/runs/settings-acceptance.js';

const schema = z
  .strictObject({
    step: z.number().max(1).default(0.5),
    tables: z.partialRecord(z.enum(['a', 'b']), z.string()).default({}),
    controls: z
      .array(z.strictObject({ name: z.string(), script: z.enum(['latin', 'other']).default('latin') }))
      .default([]),
  })
  .prefault({});

it('no more is left out than what the schema refuses, and what it has by default is filled in', () => {
  const stored = {
    step: 3,
    former: { depth: 1 },
    tables: { a: 'x', b: 7, c: 'y' },
    controls: [
      { name: 'one', former: true },
      { script: 'latin' },
      { name: 'three', script: 'runes' },
      { name: 'four' },
    ],
  };
  const known = keepKnown(schema, stored);
  expect(known).toEqual({ tables: { a: 'x' }, controls: [{ name: 'one' }, { name: 'three' }, { name: 'four' }] });
  expect(schema.parse(known).controls[2]).toEqual({ name: 'four', script: 'latin' });
});

it('what the schema knows stays as it is, and what it knows nothing of is left out whole', () => {
  const stored = { step: 0.1, controls: [{ name: 'one', script: 'other' }] };
  expect(keepKnown(schema, stored)).toEqual(stored);
  expect(keepKnown(schema, 'settings')).toBeUndefined();
});
