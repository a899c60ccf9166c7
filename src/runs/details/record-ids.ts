import type { DetailKind } from '../../reports/detail-facts.js';

/** A record that can be looked up. */
export interface DetailRecord {
  kind: DetailKind;
  id: string;
}

const forms: readonly [DetailKind, RegExp][] = [
  ['activity', /^amla_\w{1,200}$/],
  ['entity', /^aml_\w{1,200}$/],
];

/** The record that an id names by its form (interface: Identifier forms); undefined for every other id, which is not asked for. */
export function toDetailRecord(id: string): DetailRecord | undefined {
  const kind = forms.find(([, form]) => form.test(id))?.[0];
  return kind === undefined ? undefined : { kind, id };
}

// Letters and digits as they come by chance; `aml_entity` and `aml_match` are words.
const namedForm = /^aml_(?=[A-Za-z]*[A-Z0-9])[A-Za-z0-9]{6,200}$/;

/** Whether a text within a record is the id of an AML entity, and no word that begins like one. */
export const isNamedEntity = (text: string): boolean => namedForm.test(text);
