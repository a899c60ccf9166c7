/** One hosted verification session; its consent is null until it was decided. */
export interface Session {
  id: string;
  level: string;
  applicant: Record<string, unknown>;
  createdAtMs: number;
  isCanceled: boolean;
  hasConsent: boolean | null;
  smsSent: number;
  liveness: 'not_started' | 'started' | 'succeeded';
}

/** A session that nobody may continue: canceled, or consent was refused (interface: States, Session). */
export const isOver = (session: Session): boolean => session.isCanceled || session.hasConsent === false;

const toState = (session: Session): string => {
  if (session.hasConsent === null) return 'consent_pending';
  return session.liveness === 'succeeded' ? 'completed' : 'in_progress';
};

/** The session as it is shown (interface: GET /sessions/{session_id}). */
export const toSessionRecord = (session: Session) => ({
  session_id: session.id,
  kyc_level: session.level,
  status: toState(session),
  gives_consent: session.hasConsent,
  created_at: new Date(session.createdAtMs).toISOString(),
  ...session.applicant,
});

const findStep = (session: Session): { type: string; show: string; order: number } => {
  if (session.liveness === 'succeeded') return { type: 'none', show: 'finished', order: 3 };
  if (session.liveness === 'started') return { type: 'liveness', show: 'liveness_capture', order: 2 };
  return { type: 'liveness', show: 'liveness_intro', order: 1 };
};

/** The next step of the flow (service facts: preflight). */
export const toPreflight = (session: Session) => {
  const step = findStep(session);
  return {
    session: toSessionRecord(session),
    session_id: session.id,
    entity_id_state: toState(session),
    entity_id_document_type: null,
    requirement: {
      requirement_type: step.type,
      status: step.type === 'none' ? 'completed' : 'pending',
      flow_order: step.order,
    },
    screen: { show: step.show, parameters: {} },
    extra_data: {},
  };
};
