import type { SandboxDossier } from '../world.js';
import { toRecordId } from './record-ids.js';

/** Makes a presigned link to an asset. */
export type SignAsset = (asset: string) => string;

const ADDRESS = { street: 'Harbour Street 1', city: 'Port Sample', postal_code: '0001', country: 'dk' };

/** An asset with its type and link (interface: Dossier detail). */
const toMedia = (type: string, asset: string, createdAt: string, sign: SignAsset) => ({
  type,
  name: `${asset}.png`,
  page: 1,
  url: sign(asset),
  created_at: createdAt,
});

/** The applicant (interface: GET /dossiers/entity/{id}). */
export const toEntity = (dossier: SandboxDossier) => ({
  id: toRecordId('entity', dossier.id),
  dossier_id: dossier.id,
  type: dossier.type === 'kyb' ? 'entity' : 'person',
  personal_information: { full_name: dossier.name, reference: dossier.reference },
  address: ADDRESS,
  created_at: dossier.created_at,
  updated_at: dossier.updated_at,
});

/** The identity document with its images (interface: GET /dossiers/identity_document/{id}). */
export const toIdentityDocument = (dossier: SandboxDossier, sign: SignAsset) => {
  const id = toRecordId('identityDocument', dossier.id);
  return {
    id,
    dossier_id: dossier.id,
    entity_id: toRecordId('entity', dossier.id),
    document_type: 'passport',
    document_number: `P${dossier.token}`,
    full_name: dossier.name,
    issuing_country: ADDRESS.country,
    mrz: { present: true, valid: true },
    images: ['front', 'back', 'cropped'].map((side) => toMedia(side, `${id}-${side}`, dossier.created_at, sign)),
    created_at: dossier.created_at,
  };
};

/** The decision with what it was made on (interface: GET /dossiers/decision/{id}). */
export const toDecision = (dossier: SandboxDossier, sign: SignAsset) => ({
  id: toRecordId('decision', dossier.id),
  status: dossier.status,
  dossier,
  entity: toEntity(dossier),
  identity_document: toIdentityDocument(dossier, sign),
  risk_tags: (dossier.risk_score ?? 0) >= 50 ? ['elevated_risk'] : [],
  created_at: dossier.completed_at ?? dossier.updated_at,
});

/** The proof of address (interface: GET /dossiers/address_proof/{id}). */
export const toAddressProof = (dossier: SandboxDossier) => ({
  id: toRecordId('addressProof', dossier.id),
  dossier_id: dossier.id,
  entity_id: toRecordId('entity', dossier.id),
  status: dossier.status,
  document_type: 'utility_bill',
  address: ADDRESS,
  created_at: dossier.created_at,
});

/** The proof of funds (interface: GET /dossiers/funds_proof/{id}). */
export const toFundsProof = (dossier: SandboxDossier) => ({
  id: toRecordId('fundsProof', dossier.id),
  dossier_id: dossier.id,
  entity_id: toRecordId('entity', dossier.id),
  status: dossier.status,
  source: 'salary',
  created_at: dossier.created_at,
});

/** The whole dossier with every asset (interface: Dossier detail). */
export const toDossierDetail = (dossier: SandboxDossier, sign: SignAsset) => {
  const entity = toEntity(dossier);
  const selfie = (number: number) => toMedia('liveness', `${entity.id}-frame${number}`, dossier.created_at, sign);
  return {
    ...dossier,
    media: [toMedia('report', `${dossier.id}-report`, dossier.created_at, sign)],
    entities: [
      {
        ...entity,
        identity_documents: [toIdentityDocument(dossier, sign)],
        media: [toMedia('selfie', `${entity.id}-selfie`, dossier.created_at, sign)],
        liveness_images: [1, 2, 3].map(selfie),
      },
    ],
  };
};
