import type { Hono } from 'hono';
import { answerError } from '../answer-error.js';
import type { CallEnv } from '../call.js';
import { describeProblem } from '../describe-problem.js';
import { toInvitationRecord } from '../invitations/invitation.js';
import { judgeResend } from '../invitations/judge-resend.js';
import { listInvitations } from '../invitations/list-invitations.js';
import { listLocales } from '../invitations/locales.js';
import { invitationBodySchema, newInvitationSchema } from '../invitations/new-invitation.js';
import type { SandboxService } from '../service.js';

const NOT_FOUND = 'No such invitation in this organisation.';

/** Adds the five operations on workflow invitations (interface: Workflow invitations). */
export const addInvitationRoutes = (routes: Hono<CallEnv>, service: SandboxService): void => {
  routes.get('/autodoc/invitations/locales', (context) => {
    context.var.entry.worked = true;
    return context.json({ locales: listLocales(context.req.header('accept-language')) });
  });

  routes.get('/autodoc/invitations', (context) => {
    const newestFirst = service.invitationsOf(context.var.owner).newestFirst();
    const page = listInvitations(newestFirst, context.req.query());
    if ('problem' in page) return answerError(context, 400, page.problem);
    context.var.entry.worked = true;
    return context.json({ ...page, invitations: page.invitations.map(toInvitationRecord) });
  });

  routes.post('/autodoc/invitations', (context) => {
    const body = invitationBodySchema.safeParse(context.var.body);
    if (!body.success) return answerError(context, 400, describeProblem(body.error));
    const request = newInvitationSchema.safeParse(body.data);
    if (!request.success) return answerError(context, 422, describeProblem(request.error));
    const { owner, entry } = context.var;
    if (owner?.account !== 'main' || request.data.workflowToken !== service.keyRing.keys.workflowToken) {
      return answerError(context, 404, 'No such workflow.', 'workflow_not_found');
    }
    const invitation = service.invitationsOf(owner).add(request.data);
    entry.worked = true;
    return context.json(toInvitationRecord(invitation), 201);
  });

  routes.get('/autodoc/invitations/:token', (context) => {
    const invitation = service.invitationsOf(context.var.owner).find(context.req.param('token'));
    if (!invitation) return answerError(context, 404, NOT_FOUND);
    context.var.entry.worked = true;
    return context.json(toInvitationRecord(invitation));
  });

  routes.post('/autodoc/invitations/:token/resend', (context) => {
    const { owner, entry } = context.var;
    const nowMs = service.clock.nowMs();
    const address = context.env.incoming.socket.remoteAddress ?? '';
    if (!service.admitResend(owner?.account ?? 'other', address, nowMs)) {
      return answerError(context, 429, 'Too many resends within a minute.');
    }
    const invitations = service.invitationsOf(owner);
    const invitation = invitations.find(context.req.param('token'));
    if (!invitation) return answerError(context, 404, NOT_FOUND);
    const refusal = judgeResend(invitation, nowMs);
    if (refusal) return answerError(context, refusal.status, refusal.message, refusal.code);
    invitations.redispatch(invitation);
    entry.worked = true;
    return context.json(toInvitationRecord(invitation), 201);
  });
};
