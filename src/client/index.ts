/** The public entry point of the library: the client of the service, its inputs and results, and its errors. */
export type { Clock } from '../clock.js';
export {
  ApiError,
  AuthenticationError,
  ConfigError,
  type ConfigProblem,
  ConnectionError,
  ConsentRequiredError,
  GoneError,
  InvalidRequestError,
  NightscreenError,
  NotFoundError,
  PaymentRequiredError,
  PermissionError,
  RateLimitError,
  ResponseError,
  ServerError,
  ServiceUnavailableError,
  TimeoutError,
  UnprocessableError,
} from '../errors.js';
export type { Aml, AmlMatch, AmlSearchInput, AmlSearchResult, SearchEachOptions, SearchOutcome } from './aml.js';
export type { ClientEvent } from './client.js';
export { type Client, type ClientSettings, createClient } from './client.js';
export type { ApiKeys, KeyIdentity, KeyMode, PublicKey } from './credentials.js';
export type {
  CreatedDossier,
  DossierDetail,
  DossierInput,
  DossierListQuery,
  DossierPage,
  DossierSummary,
  Dossiers,
  IdentityDocument,
} from './dossiers.js';
export type {
  Invitation,
  InvitationInput,
  InvitationListQuery,
  InvitationPage,
  Invitations,
  Locales,
} from './invitations.js';
export type { Answer, Attempt, AttemptEnd, AttemptObserver, CallOptions } from './operation.js';
export type { Pace, PaceEvent } from './pace.js';
export { createPace, type PaceSettings } from './pace.js';
export type {
  CreatedSession,
  ServiceStatus,
  SessionInput,
  SessionSms,
  Sessions,
  SessionUpdate,
} from './sessions.js';
export { verifyWebhook, type WebhookVerification } from './webhook-signature.js';
export type { ServiceRecord } from './wire.js';
