import { z } from 'zod';
import { isoDateTimeSchema } from './iso-date-time.js';

const imageSchema = z.looseObject({ url: z.string().min(1) });

/** An asset that can be downloaded for about five minutes (interface: Limits, Media URL lifetime). */
const mediaAssetSchema = z.looseObject({
  type: z.string(),
  url: z.string().min(1),
  name: z.string().nullish(),
  page: z.union([z.number(), z.string()]).nullish(),
  created_at: isoDateTimeSchema.nullish(),
});

/** An identity document with its images (interface: Dossier detail, Single-record lookups); unknown fields are kept. */
export const identityDocumentSchema = z.looseObject({ images: z.array(imageSchema) });
/** An identity document; each image's `url` expires after about five minutes (interface: Limits). */
export type IdentityDocument = z.output<typeof identityDocumentSchema>;

/** A dossier with everything in it (interface: Dossier detail); unknown fields, states and types are kept. */
export const dossierDetailSchema = z.looseObject({
  id: z.string().min(1),
  type: z.string(),
  status: z.string().min(1),
  media: z.array(mediaAssetSchema),
  entities: z.array(
    z.looseObject({
      identity_documents: z.array(identityDocumentSchema),
      media: z.array(mediaAssetSchema),
      liveness_images: z.array(imageSchema),
    }),
  ),
});
/** A dossier with its applicants and media; every `url` expires after about five minutes (interface: Dossier detail). */
export type DossierDetail = z.output<typeof dossierDetailSchema>;
