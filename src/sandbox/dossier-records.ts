import type { SearchResult, SearchWatchlist } from './search-watchlist.js';
import type { SandboxDossier } from './world.js';

/** Makes a presigned link to an asset. */
export type SignAsset = (asset: string) => string;

const PREFIXES = {
  entity: 'entity_',
  identity_document: 'id_doc_',
  decision: 'decision_',
  address_proof: 'poa_',
  funds_proof: 'pof_',
  aml_entity: 'aml_',
} as const;

/** A kind of record that a dossier has one of, sooner or later. */
export type RecordKind = keyof typeof PREFIXES;
/** All kinds of records, in the order in which a dossier gets them. */
export const RECORD_KINDS: readonly RecordKind[] = [
  'entity',
  'identity_document',
  'address_proof',
  'funds_proof',
  'aml_entity',
  'decision',
];

const DOSSIER_PREFIX = 'dossier_';

/** The id of a dossier's record: its own prefix before the dossier's token. */
const toRecordId = (kind: RecordKind, dossierId: string): string =>
  PREFIXES[kind] + dossierId.slice(DOSSIER_PREFIX.length);

/** The id of the dossier that a record belongs to; undefined when the record's id has another form. */
export const toDossierId = (kind: RecordKind, recordId: string): string | undefined => {
  const prefix = PREFIXES[kind];
  return recordId.startsWith(prefix) ? DOSSIER_PREFIX + recordId.slice(prefix.length) : undefined;
};

/**
 * Whether a dossier has a record of this kind yet: an applicant once it is no draft, documents and their screening once
 * there is a document, a decision once it is decided.
 */
export const hasRecord = (kind: RecordKind, { status, documents_count, completed_at }: SandboxDossier): boolean => {
  if (kind === 'entity') return status !== 'draft';
  if (kind !== 'decision') return documents_count > 0;
  if (status === 'approved' || status === 'rejected') return true;
  return (status === 'archived' || status === 'closed') && completed_at !== null;
};

const ADDRESS = { street: 'Harbour Street 1', city: 'Port Sample', postal_code: '0001', country: 'dk' };

/** An asset with its type and link (interface: Dossier detail). */
const toMedia = (type: string, asset: string, createdAt: string, sign: SignAsset) => ({
  type,
  name: `${asset}.png`,
  page: 1,
  url: sign(asset),
  created_at: createdAt,
});

const toApplicantType = (dossier: SandboxDossier): 'entity' | 'person' =>
  dossier.type === 'kyb' ? 'entity' : 'person';

const toEntity = (dossier: SandboxDossier) => ({
  id: toRecordId('entity', dossier.id),
  dossier_id: dossier.id,
  type: toApplicantType(dossier),
  personal_information: { full_name: dossier.name, reference: dossier.reference },
  address: ADDRESS,
  created_at: dossier.created_at,
  updated_at: dossier.updated_at,
});

/** With its images where they can be signed: events carry none (interface: Single-record lookups). */
const toIdentityDocument = (dossier: SandboxDossier, sign: SignAsset | undefined) => {
  const id = toRecordId('identity_document', dossier.id);
  const sides = ['front', 'back', 'cropped'];
  return {
    id,
    dossier_id: dossier.id,
    entity_id: toRecordId('entity', dossier.id),
    document_type: 'passport',
    document_number: `P${dossier.token}`,
    full_name: dossier.name,
    issuing_country: ADDRESS.country,
    mrz: { present: true, valid: true },
    ...(sign ? { images: sides.map((side) => toMedia(side, `${id}-${side}`, dossier.created_at, sign)) } : {}),
    created_at: dossier.created_at,
  };
};

const toDecision = (dossier: SandboxDossier, sign: SignAsset | undefined) => ({
  id: toRecordId('decision', dossier.id),
  dossier_id: dossier.id,
  status: dossier.status,
  dossier,
  entity: toEntity(dossier),
  identity_document: hasRecord('identity_document', dossier) ? toIdentityDocument(dossier, sign) : null,
  risk_tags: (dossier.risk_score ?? 0) >= 50 ? ['elevated_risk'] : [],
  created_at: dossier.completed_at ?? dossier.updated_at,
});

const toProof = (kind: 'address_proof' | 'funds_proof', dossier: SandboxDossier) => ({
  id: toRecordId(kind, dossier.id),
  dossier_id: dossier.id,
  entity_id: toRecordId('entity', dossier.id),
  status: dossier.status,
  ...(kind === 'address_proof' ? { document_type: 'utility_bill', address: ADDRESS } : { source: 'salary' }),
  created_at: dossier.created_at,
});

/** What the screening of a dossier's name finds. */
export const screenDossier = (dossier: SandboxDossier, screen: SearchWatchlist): SearchResult[] =>
  screen(toApplicantType(dossier), dossier.name);

const toAmlEntity = (dossier: SandboxDossier, screen: SearchWatchlist) => {
  const found = screenDossier(dossier, screen);
  return {
    id: toRecordId('aml_entity', dossier.id),
    dossier_id: dossier.id,
    entity_id: toRecordId('entity', dossier.id),
    type: toApplicantType(dossier),
    name: dossier.name,
    screening_status: found.some((match) => match.match) ? 'match' : 'clear',
    activities: found.map(({ id, match, score }) => ({ id, match, score })),
    updated_at: dossier.updated_at,
  };
};

/** What a record needs beyond its dossier. */
interface RecordSources {
  screen: SearchWatchlist;
  /** Without it a record has no images. */
  sign?: SignAsset;
}

/** A record as its look-up shows it (interface: Single-record lookups). */
export const describeRecord = (kind: RecordKind, dossier: SandboxDossier, { screen, sign }: RecordSources): object => {
  if (kind === 'entity') return toEntity(dossier);
  if (kind === 'identity_document') return toIdentityDocument(dossier, sign);
  if (kind === 'decision') return toDecision(dossier, sign);
  return kind === 'aml_entity' ? toAmlEntity(dossier, screen) : toProof(kind, dossier);
};

/** The whole dossier with every asset (interface: Dossier detail); what it does not have yet is left out. */
export const toDossierDetail = (dossier: SandboxDossier, sign: SignAsset) => {
  const entity = toEntity(dossier);
  const hasDocuments = hasRecord('identity_document', dossier);
  const selfie = (number: number) => toMedia('liveness', `${entity.id}-frame${number}`, dossier.created_at, sign);
  const applicant = {
    ...entity,
    identity_documents: hasDocuments ? [toIdentityDocument(dossier, sign)] : [],
    media: hasDocuments ? [toMedia('selfie', `${entity.id}-selfie`, dossier.created_at, sign)] : [],
    liveness_images: hasDocuments ? [1, 2, 3].map(selfie) : [],
  };
  return {
    ...dossier,
    media: [toMedia('report', `${dossier.id}-report`, dossier.created_at, sign)],
    entities: hasRecord('entity', dossier) ? [applicant] : [],
  };
};
