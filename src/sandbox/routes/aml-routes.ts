import type { Hono } from 'hono';
import { z } from 'zod';
import { answerError } from '../answer-error.js';
import type { Call, CallEnv } from '../call.js';
import { toDossierId, toRecordId } from '../dossiers/record-ids.js';
import type { SandboxService } from '../service.js';
import type { SandboxDossier } from '../world.js';

const searchSchema = z.object({
  type: z.enum(['person', 'entity']),
  name: z.string().regex(/\S/, 'must not be blank'),
});

const answerNotFound = (context: Call): Response => answerError(context, 404, 'No such record in this organisation.');

const toAmlEntity = (dossier: SandboxDossier, service: SandboxService) => {
  const type = dossier.type === 'kyb' ? 'entity' : 'person';
  const found = service.search(type, dossier.name);
  return {
    id: toRecordId('amlEntity', dossier.id),
    dossier_id: dossier.id,
    entity_id: toRecordId('entity', dossier.id),
    type,
    name: dossier.name,
    screening_status: found.some((match) => match.match) ? 'match' : 'clear',
    activities: found.slice(0, service.maxResults).map(({ id, match, score }) => ({ id, match, score })),
    updated_at: dossier.updated_at,
  };
};

/** Adds the search and the look-ups of an AML entity and an AML activity (interface: AML search, single-record lookups). */
export const addAmlRoutes = (routes: Hono<CallEnv>, service: SandboxService): void => {
  routes.post('/aml/search', (context) => {
    const request = searchSchema.safeParse(context.var.body);
    if (!request.success) return answerError(context, 400, z.prettifyError(request.error));
    const { type, name } = request.data;
    const found = service.search(type, name);
    context.var.entry.worked = true;
    return context.json({ query: name, type, total: found.length, results: found.slice(0, service.maxResults) }, 201);
  });

  routes.get('/aml/entity/:id', (context) => {
    const dossierId = toDossierId('amlEntity', context.req.param('id'));
    const dossier = dossierId && service.bookOf(context.var.owner).find(dossierId);
    if (!dossier) return answerNotFound(context);
    context.var.entry.worked = true;
    return context.json(toAmlEntity(dossier, service));
  });

  // Lists are the same for everybody, and so are the ids that a search gives: a match can be looked up by each organisation.
  routes.get('/aml/activity/:id', (context) => {
    const listed = service.findListed(context.req.param('id'));
    if (!listed) return answerNotFound(context);
    context.var.entry.worked = true;
    return context.json(listed);
  });
};
