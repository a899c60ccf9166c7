/** The library's door: a typed client of the whole service, what its operations take and give, and the errors they throw. */
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
export type { KeyMode } from './calls/api-key.js';
export type { Attempt, AttemptEnd, AttemptObserver } from './calls/attempt-observer.js';
export type { KeyIdentity } from './calls/key-holder.js';
export type { ClientEvent } from './client-event.js';
export { type Client, type ClientSettings, createClient } from './create-client.js';
export type { Answer, CallOptions } from './operation.js';
export { createPace, type PaceSettings } from './pace/create-pace.js';
export type { Pace, PaceEvent } from './pace/pace.js';
export type { Aml } from './resources/aml.js';
export type { AmlSearchInput, AmlSearchResult } from './resources/aml-search.js';
export type { ApiKeys, PublicKey } from './resources/api-keys.js';
export type { IdentityDocument } from './resources/dossier-detail.js';
export type {
  CreatedDossier,
  DossierDetail,
  DossierInput,
  DossierListQuery,
  DossierPage,
  DossierSummary,
  Dossiers,
} from './resources/dossiers.js';
export type {
  Invitation,
  InvitationInput,
  InvitationListQuery,
  InvitationPage,
  Invitations,
  Locales,
} from './resources/invitations.js';
export type { ServiceRecord, ServiceStatus } from './resources/record-schema.js';
export type { SearchEachOptions, SearchOutcome } from './resources/search-each.js';
export type { CreatedSession, SessionInput, SessionSms, Sessions, SessionUpdate } from './resources/sessions.js';
export { verifyWebhook, type WebhookVerification } from './webhook-signature.js';
