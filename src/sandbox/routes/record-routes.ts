import type { Hono } from 'hono';
import { answerError } from '../answer-error.js';
import type { CallEnv } from '../call.js';
import {
  type SignAsset,
  toAddressProof,
  toDecision,
  toEntity,
  toFundsProof,
  toIdentityDocument,
} from '../dossiers/describe-records.js';
import { type RecordKind, toDossierId } from '../dossiers/record-ids.js';
import type { SandboxService } from '../service.js';
import type { SandboxDossier } from '../world.js';

type Describe = (dossier: SandboxDossier, sign: SignAsset) => object;

const RECORDS: readonly [path: string, kind: RecordKind, describe: Describe][] = [
  ['entity', 'entity', toEntity],
  ['identity_document', 'identityDocument', toIdentityDocument],
  ['decision', 'decision', toDecision],
  ['address_proof', 'addressProof', toAddressProof],
  ['funds_proof', 'fundsProof', toFundsProof],
];

/** Adds the five look-ups of a dossier's records (interface: Single-record lookups). */
export const addRecordRoutes = (routes: Hono<CallEnv>, service: SandboxService): void => {
  for (const [path, kind, describe] of RECORDS) {
    routes.get(`/dossiers/${path}/:id`, (context) => {
      const dossierId = toDossierId(kind, context.req.param('id'));
      const dossier = dossierId === undefined ? undefined : service.bookOf(context.var.owner).find(dossierId);
      if (!dossier) return answerError(context, 404, 'No such record in this organisation.');
      context.var.entry.worked = true;
      const { origin } = new URL(context.req.url);
      return context.json(describe(dossier, (asset) => service.media.sign(origin, asset)));
    });
  }
};
