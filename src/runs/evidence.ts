import { z } from 'zod';
import type { Database } from '../store/database/database.js';
import { readColumn } from '../store/database/database.js';
import { digestListed } from '../store/night/listed-parties.js';
import { findStateDisagreements } from '../store/review/projection.js';
import { digestAnswer } from './screening/commit.js';
import { digestAssessment } from './settings-acceptance.js';

/** One comparison of stored evidence with what it was stored with. */
export interface EvidenceComparison {
  /** As in `answers with their keyed digests`. */
  what: string;
  compared: number;
  differing: number;
  /** The numbers of the first rows that differ. */
  first: readonly string[];
}

const mostNamed = 5;
const batchSize = 500;

/** Compares all evidence of the database that a digest covers, or that can be computed from other evidence; changes nothing. */
export async function compareEvidence(database: Database): Promise<readonly EvidenceComparison[]> {
  return [
    ...(await compareAnswers(database)),
    await compareListedParties(database),
    await compareInSql(
      database,
      'records behind matches with their digests',
      `select record_id as name, digest <> sha256(convert_to(body, 'UTF8')) as "isOther" from match_detail where body is not null`,
    ),
    await compareInSql(
      database,
      'words of dispositions with their digests',
      `select disposition_id::text as name, text_digest <> digest_disposition_text(salt, reason, comment, seen) as "isOther"
       from disposition join disposition_text using (disposition_id)`,
    ),
    await compareSettings(database),
    await compareAlerts(database),
  ];
}

/** Triggers that are switched off now, as `table.trigger`: what they guard can be rewritten. */
export const listDisabledTriggers = (database: Database): Promise<readonly string[]> =>
  readColumn(
    database,
    z.string(),
    `select relname || '.' || tgname from pg_trigger join pg_class on pg_class.oid = tgrelid
     where relnamespace = to_regnamespace(current_schema()) and tgenabled not in ('O', 'A') order by 1`,
  );

const count = (what: string): EvidenceComparison & { first: string[] } => ({
  what,
  compared: 0,
  differing: 0,
  first: [],
});

function note(comparison: ReturnType<typeof count>, name: number | string, isOther: boolean): void {
  comparison.compared += 1;
  if (!isOther) return;
  comparison.differing += 1;
  if (comparison.first.length < mostNamed) comparison.first.push(String(name));
}

const answerRow = z.object({
  responseId: z.number(),
  digest: z.string(),
  digestKey: z.instanceof(Buffer),
  body: z.string(),
  total: z.number(),
  matches: z.number(),
  hits: z.number(),
  areHits: z.array(z.boolean()).nullable(),
  scores: z.array(z.number()).nullable(),
});

const bodySchema = z.object({
  total: z.number(),
  results: z.array(z.object({ match: z.boolean(), score: z.number() })),
});

async function compareAnswers(database: Database): Promise<readonly EvidenceComparison[]> {
  const texts = count('answers with their keyed digests');
  const figures = count('hits and scores with the answers');
  const rows = database.cursor(
    answerRow,
    `select response_id, encode(digest, 'hex') as digest, digest_key, body, total, matches, hits, are_hits, scores
     from response join organisation using (organisation_id) order by response_id`,
    batchSize,
  );
  for await (const batch of rows) {
    for (const answer of batch) {
      note(texts, answer.responseId, digestAnswer(answer.digestKey, answer.body) !== answer.digest);
      note(figures, answer.responseId, !saysTheSame(answer));
    }
  }
  return [texts, figures];
}

function saysTheSame({ body, total, matches, hits, areHits, scores }: z.infer<typeof answerRow>): boolean {
  const said = bodySchema.safeParse(parseJson(body)).data;
  if (said === undefined) return false;
  const flags = said.results.map(({ match }) => match);
  return (
    said.total === total &&
    flags.length === matches &&
    flags.filter(Boolean).length === hits &&
    JSON.stringify(flags) === JSON.stringify(areHits ?? []) &&
    JSON.stringify(said.results.map(({ score }) => score)) === JSON.stringify(scores ?? [])
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const listedRow = z.object({
  listedId: z.number(),
  digest: z.string(),
  id: z.string(),
  name: z.string(),
  schema: z.string(),
  topics: z.array(z.string()),
  birthDates: z.array(z.string()),
  countries: z.array(z.string()),
});

async function compareListedParties(database: Database): Promise<EvidenceComparison> {
  const parties = count('listed parties with their digests');
  const rows = database.cursor(
    listedRow,
    `select listed_id, encode(digest, 'hex') as digest, match_id as id, name, schema, topics, birth_dates, countries
     from listed_party order by listed_id`,
    batchSize,
  );
  for await (const batch of rows) {
    for (const listed of batch) note(parties, listed.listedId, digestListed(listed) !== listed.digest);
  }
  return parties;
}

const comparedRow = z.object({ compared: z.number(), differing: z.number(), first: z.array(z.string()) });

/** `rows` selects `name` and `isOther`. */
async function compareInSql(database: Database, what: string, rows: string): Promise<EvidenceComparison> {
  const [found] = await database.query(
    comparedRow,
    `select count(*)::integer as compared, (count(*) filter (where "isOther"))::integer as differing,
       (coalesce(array_agg(name) filter (where "isOther"), '{}'))[1:${mostNamed}] as first
     from (${rows}) one`,
  );
  return { what, ...(found ?? { compared: 0, differing: 0, first: [] }) };
}

const settingsRow = z.object({ id: z.number(), settings: z.record(z.string(), z.unknown()), digest: z.string() });

async function compareSettings(database: Database): Promise<EvidenceComparison> {
  const settings = count('accepted settings with their digests');
  const rows = await database.query(
    settingsRow,
    `select acceptance_id as id, case jsonb_typeof(settings) when 'object' then settings else '{}' end as settings, digest
     from acceptance where kind = 'settings' and settings is not null order by 1`,
  );
  for (const row of rows) note(settings, row.id, digestAssessment(row.settings) !== row.digest);
  return settings;
}

/** An alert has the state that its dispositions give it, and each hit of a last answer has an alert. */
async function compareAlerts(database: Database): Promise<EvidenceComparison> {
  const scopes = await database.query(
    z.object({ rosterId: z.number(), accountId: z.number(), alerts: z.number() }),
    `select customer.roster_id, alert.account_id, count(*)::integer as alerts
     from alert join party using (party_id) join customer using (customer_id) group by 1, 2 order by 1, 2`,
  );
  const states = { what: 'states of alerts with their dispositions', compared: 0, differing: 0, first: [] };
  for (const { alerts, ...scope } of scopes) {
    const { alerts: differing, hits } = await findStateDisagreements(database, scope);
    states.compared += alerts;
    states.differing += differing + hits;
  }
  return states;
}
