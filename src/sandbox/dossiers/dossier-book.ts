import { z } from 'zod';
import type { Mode } from '../keys.js';
import { makeHumanizedToken, makeToken } from '../make-token.js';
import type { SandboxClock } from '../sandbox-clock.js';
import { type SandboxDossier, sandboxDossierSchema } from '../world.js';
import { createDossierList, type DossierList, type DossierPage } from './list-dossiers.js';

const when = {
  /** Whose dossiers: those of the test keys or those of the live key. */
  mode: z.enum(['test', 'live']).default('test'),
  /** When the sandbox's clock has gone on by so much. */
  afterMs: z.number().min(0).optional(),
  /** When the list was called so many times more. */
  afterCalls: z.number().int().min(1).optional(),
};
const fieldsSchema = sandboxDossierSchema.partial();

/** One change of the main organisation's dossiers; at once unless it says when. */
export const dossierChangeSchema = z
  .union([
    z.strictObject({ ...when, insert: fieldsSchema }),
    z.strictObject({ ...when, update: z.string(), set: fieldsSchema.omit({ id: true, token: true }) }),
    z.strictObject({ ...when, remove: z.string() }),
  ])
  .refine(
    (change) => change.afterMs === undefined || change.afterCalls === undefined,
    'afterMs or afterCalls, not both',
  );
/** A change of the main organisation's dossiers as a caller writes it. */
export type DossierChange = z.input<typeof dossierChangeSchema>;
type DueChange = z.output<typeof dossierChangeSchema>;
type DossierFields = z.output<typeof fieldsSchema>;

/** Hears of each change: without `before` the dossier is new, without `after` it is gone. */
export type HearChange = (before: SandboxDossier | undefined, after: SandboxDossier | undefined) => void;

/** The dossiers of one organisation in one mode. */
export interface DossierBook {
  list(query: Record<string, string>): DossierPage;
  /** By `dossier_<token>` or by the humanized token (interface: Identifier forms). */
  find(idOrToken: string): SandboxDossier | undefined;
  /** Adds a dossier, open and made now where nothing else is said; throws when its id or token is taken. */
  insert(fields: DossierFields): SandboxDossier;
  /** Changes a dossier; undefined when there is none. */
  update(idOrToken: string, fields: DossierFields): SandboxDossier | undefined;
  /** Does a change when it is due, and gives the id that it names or makes; throws when it is due now and cannot be done. */
  change(change: DueChange): string;
  /** Replaces all dossiers; changes that were still to come are forgotten. */
  replace(dossiers: readonly SandboxDossier[]): void;
}

const VERIFIED: readonly string[] = ['completed', 'approved', 'rejected'];

/** What a state brings with it: a dossier that was verified has a document and the time of its completion. */
const fillByStatus = (dossier: SandboxDossier, nowMs: number): SandboxDossier => {
  if (!VERIFIED.includes(dossier.status)) return dossier;
  return {
    ...dossier,
    completed_at: dossier.completed_at ?? new Date(nowMs).toISOString(),
    documents_count: Math.max(dossier.documents_count, 1),
  };
};

const makeDossierId = (): string => `dossier_${makeToken()}`;

const toDossier = (fields: DossierFields, mode: Mode, nowMs: number): SandboxDossier => {
  const createdAt = fields.created_at ?? new Date(nowMs).toISOString();
  const plain: SandboxDossier = {
    id: makeDossierId(),
    token: makeHumanizedToken(),
    type: 'kyc',
    status: 'open',
    name: 'New applicant',
    reference: null,
    risk_score: null,
    is_test: mode === 'test',
    download_status: 'not_downloaded',
    documents_count: 0,
    created_at: createdAt,
    updated_at: createdAt,
    completed_at: null,
  };
  return fillByStatus(Object.assign(plain, fields), nowMs);
};

const toUpdated = (dossier: SandboxDossier, fields: DossierFields, nowMs: number): SandboxDossier => {
  const updated = { ...dossier, updated_at: new Date(nowMs).toISOString() };
  return { ...fillByStatus(Object.assign(updated, fields), nowMs), ...{ id: dossier.id, token: dossier.token } };
};

/** Creates a book without dossiers. */
export const createDossierBook = (mode: Mode, clock: SandboxClock, hear: HearChange): DossierBook => {
  let held = new Map<string, SandboxDossier>();
  let ids = new Map<string, string>();
  let list: DossierList | undefined;
  let afterCalls: { left: number; act: () => void }[] = [];

  const find = (idOrToken: string): SandboxDossier | undefined => held.get(ids.get(idOrToken) ?? idOrToken);
  const put = (dossier: SandboxDossier): void => {
    held.set(dossier.id, dossier);
    ids.set(dossier.token, dossier.id);
    list?.put(dossier);
  };
  const insert = (fields: DossierFields): SandboxDossier => {
    const dossier = toDossier(fields, mode, clock.nowMs());
    if (find(dossier.id) || find(dossier.token))
      throw new Error(`there is a dossier ${dossier.id} or ${dossier.token}`);
    put(dossier);
    hear(undefined, dossier);
    return dossier;
  };
  const update = (idOrToken: string, fields: DossierFields): SandboxDossier | undefined => {
    const before = find(idOrToken);
    if (!before) return undefined;
    const after = toUpdated(before, fields, clock.nowMs());
    put(after);
    hear(before, after);
    return after;
  };
  const remove = (idOrToken: string): SandboxDossier | undefined => {
    const before = find(idOrToken);
    if (!before) return undefined;
    held.delete(before.id);
    ids.delete(before.token);
    list?.remove(before.id);
    hear(before, undefined);
    return before;
  };
  const carryOut = (change: DueChange): SandboxDossier | undefined => {
    if ('insert' in change) return insert(change.insert);
    return 'update' in change ? update(change.update, change.set) : remove(change.remove);
  };
  /** A change that comes later does nothing when its dossier is gone by then, or its id or token is taken. */
  const carryOutLater = (change: DueChange, world: unknown): void => {
    if (world !== held) return;
    const { id, token } = 'insert' in change ? change.insert : {};
    if (find(id ?? '') === undefined && find(token ?? '') === undefined) carryOut(change);
  };
  const countCall = (): void => {
    for (const waiting of afterCalls) waiting.left -= 1;
    const due = afterCalls.filter((waiting) => waiting.left <= 0);
    if (due.length === 0) return;
    afterCalls = afterCalls.filter((waiting) => waiting.left > 0);
    for (const waiting of due) waiting.act();
  };

  return {
    find,
    insert,
    update,
    list: (query) => {
      list ??= createDossierList([...held.values()]);
      const page = list(query);
      countCall();
      return page;
    },
    change: (order) => {
      const change =
        'insert' in order ? { ...order, insert: { ...order.insert, id: order.insert.id ?? makeDossierId() } } : order;
      const id = 'insert' in change ? change.insert.id : 'update' in change ? change.update : change.remove;
      const act = carryOutLater.bind(undefined, change, held);
      if (change.afterMs !== undefined) clock.at(clock.nowMs() + change.afterMs, act);
      else if (change.afterCalls !== undefined) afterCalls.push({ left: change.afterCalls, act });
      else if (!carryOut(change)) throw new Error(`no dossier ${id}`);
      return id;
    },
    replace: (dossiers) => {
      held = new Map(dossiers.map((dossier) => [dossier.id, dossier]));
      ids = new Map(dossiers.map((dossier) => [dossier.token, dossier.id]));
      list = undefined;
      afterCalls = [];
    },
  };
};
