const PREFIXES = {
  entity: 'entity_',
  identityDocument: 'id_doc_',
  decision: 'decision_',
  addressProof: 'poa_',
  fundsProof: 'pof_',
  amlEntity: 'aml_',
} as const;

/** A kind of record that every dossier has one of. */
export type RecordKind = keyof typeof PREFIXES;

const DOSSIER_PREFIX = 'dossier_';

/** The id of a dossier's record: its own prefix before the dossier's token. */
export const toRecordId = (kind: RecordKind, dossierId: string): string =>
  PREFIXES[kind] + dossierId.slice(DOSSIER_PREFIX.length);

/** The id of the dossier that a record belongs to; undefined when the record's id has another form. */
export const toDossierId = (kind: RecordKind, recordId: string): string | undefined => {
  const prefix = PREFIXES[kind];
  return recordId.startsWith(prefix) ? DOSSIER_PREFIX + recordId.slice(prefix.length) : undefined;
};
