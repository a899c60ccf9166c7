import type { Answer, CallOperation, CallOptions } from '../operation.js';
import { type IdentityDocument, identityDocumentSchema } from './dossier-detail.js';
import { recordSchema, type ServiceRecord } from './record-schema.js';
import { toLookUp } from './to-look-up.js';

/** The single-record look-ups of the dossier area (interface: Single-record lookups). */
export interface DossierLookUps {
  /** An applicant by `entity_<token>`, GET /dossiers/entity/{id}. */
  entity(id: string, options?: CallOptions): Promise<Answer<ServiceRecord>>;
  /** An identity document with its images by `id_doc_<token>`, GET /dossiers/identity_document/{id}. */
  identityDocument(id: string, options?: CallOptions): Promise<Answer<IdentityDocument>>;
  /** A decision by `decision_<token>`, GET /dossiers/decision/{id}. */
  decision(id: string, options?: CallOptions): Promise<Answer<ServiceRecord>>;
  /** A proof of address by `poa_<token>`, GET /dossiers/address_proof/{id}. */
  addressProof(id: string, options?: CallOptions): Promise<Answer<ServiceRecord>>;
  /** A proof of funds by `pof_<token>`, GET /dossiers/funds_proof/{id}. */
  fundsProof(id: string, options?: CallOptions): Promise<Answer<ServiceRecord>>;
}

/** The look-ups of the dossier area over `callOperation`. */
export const createDossierLookUps = (callOperation: CallOperation): DossierLookUps => ({
  entity: async (id, options) =>
    callOperation(toLookUp('dossiers.entity', '/dossiers/entity', id, recordSchema), options),
  identityDocument: async (id, options) =>
    callOperation(
      toLookUp('dossiers.identity_document', '/dossiers/identity_document', id, identityDocumentSchema),
      options,
    ),
  decision: async (id, options) =>
    callOperation(toLookUp('dossiers.decision', '/dossiers/decision', id, recordSchema), options),
  addressProof: async (id, options) =>
    callOperation(toLookUp('dossiers.address_proof', '/dossiers/address_proof', id, recordSchema), options),
  fundsProof: async (id, options) =>
    callOperation(toLookUp('dossiers.funds_proof', '/dossiers/funds_proof', id, recordSchema), options),
});
