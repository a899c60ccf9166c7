import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { assessVanished, VanishedTally } from '../../src/changes/assess-vanished.js';
import { topicFamiliesSchema } from '../../src/changes/severity.js';
import type { Match } from '../../src/matches/match.js';
import { toFileRoster } from '../../src/roster/settings.js';
import { runScreening } from '../../src/runs/screening-run.js';
import { toHoldBounds } from '../../src/screening/settings.js';
import { migrate } from '../../src/store/database/migrate.js';
import { openDatabase } from '../../src/store/database/open-database.js';
import { createDatabaseSql, type PostgresServer, startPostgres } from '../helpers/database-servers.js';
import { makeSeededRandom } from '../helpers/figures.js';
import { makeAppContext, toCsv } from '../helpers/small-world.js';
import { campaignControls, toMemberName } from './site.js';

type List = 'ofac' | 'un' | 'pep' | 'crime';

interface Entry {
  list: List;
  /** Of the first list only. */
  programme: number;
  match: Match;
}

/** A roster's names and what the service answers for each of them. */
interface UnreliableWorld {
  seed: number;
  names: readonly string[];
  answers: ReadonlyMap<string, readonly Entry[]>;
}

const topicsOf: Readonly<Record<List, readonly string[]>> = {
  ofac: ['sanction'],
  un: ['sanction'],
  pep: ['role.pep'],
  crime: ['crime'],
};

/**
 * A roster of so many names of which 6 % are hits: most for one or two entries, one of seven for four to nine, as common names are; one third
 * of those on the first list are on the second too. Three of ten of the other names have matches that are no hits.
 */
function makeUnreliableWorld(seed: number, customers: number): UnreliableWorld {
  const random = makeSeededRandom(seed * 6_151 + customers);
  for (let warming = 0; warming < 4; warming += 1) random();
  const names = Array.from({ length: customers }, (_, number) => toMemberName(seed * 50_000 + number));
  const answers = new Map<string, readonly Entry[]>();
  for (const [number, name] of names.entries()) {
    // A few customers share their names.
    if (number > 0 && random() < 0.02) names[number] = names[Math.floor(random() * number)] ?? name;
    if (!answers.has(name)) answers.set(name, random() < 0.06 ? drawHits(name, random) : drawOthers(name, random));
  }
  return { seed, names, answers };
}

function drawHits(name: string, random: () => number): readonly Entry[] {
  const isCommon = random() < 1 / 7;
  const hits = isCommon ? 4 + Math.floor(random() * 6) : 1 + Math.floor(random() * 2);
  const entries = Array.from({ length: hits }, (_, number): Entry[] => {
    const drawn = random();
    const list = drawn < 0.5 ? 'ofac' : drawn < 0.6 ? 'un' : drawn < 0.88 ? 'pep' : 'crime';
    const programme = Math.floor(random() * 8);
    const year = 1940 + Math.floor(random() * 50);
    const own = toEntry(`${name} ${number}`, { name, list, programme, year, isHit: true });
    if (list !== 'ofac' || random() > 1 / 3) return [own];
    return [own, toEntry(`${name} ${number} again`, { name, list: 'un', programme, year: year + 1, isHit: true })];
  });
  return rank([...entries.flat(), ...drawOthers(name, random)]);
}

const drawOthers = (name: string, random: () => number): readonly Entry[] =>
  rank(
    Array.from({ length: random() < 0.3 ? 1 + Math.floor(random() * 6) : 0 }, (_, number) =>
      toEntry(`${name} near ${number}`, {
        name: `${name} ${toMemberName(number)}`,
        list: random() < 0.5 ? 'ofac' : 'pep',
        programme: Math.floor(random() * 8),
        year: 1950,
        isHit: false,
      }),
    ),
  );

function toEntry(
  id: string,
  { name, list, programme, year, isHit }: { name: string; list: List; programme: number; year: number; isHit: boolean },
): Entry {
  const match: Match = {
    ...{ rank: 1, id: `amla_${id.replaceAll(' ', '_')}`, name, schema: 'Person', isHit, score: isHit ? 0.97 : 0.8 },
    ...{ topics: topicsOf[list], birthDates: [`${year}-05-06`], countries: ['fr'] },
  };
  return { list, programme, match };
}

const rank = (entries: readonly Entry[]): readonly Entry[] =>
  entries.map((entry, place) => ({
    ...entry,
    match: { ...entry.match, rank: place + 1, score: entry.match.score - place * 0.002 },
  }));

/** What may happen to a night, and whether it is to be held. */
const nights = {
  'blind service': { isHeld: true },
  'one list lost': { isHeld: true },
  'silent cap at 1': { isHeld: true },
  'silent cap at 5': { isHeld: true },
  'real delisting of 3 %': { isHeld: false },
  'programme dropped': { isHeld: true },
  'all ids new': { isHeld: false },
} as const;
type Night = keyof typeof nights;

/** What the service answers in such a night. */
function toNight({ seed, answers }: UnreliableWorld, night: Night): (name: string) => readonly Match[] {
  const random = makeSeededRandom(seed * 9_973 + 7);
  for (let warming = 0; warming < 4; warming += 1) random();
  const lists: readonly List[] = ['ofac', 'un', 'pep', 'crime'];
  const lost = lists[seed % lists.length];
  const programme = seed % 8;
  // Those that are taken off the lists are the same whoever asks.
  const ids = [...new Set([...answers.values()].flat().map(({ match }) => match.id))];
  const delisted = new Set(ids.filter(() => random() < 0.03));
  const change = (entries: readonly Entry[]): readonly Entry[] => {
    switch (night) {
      case 'blind service':
        return [];
      case 'one list lost':
        return entries.filter(({ list }) => list !== lost);
      case 'silent cap at 1':
        return entries.slice(0, 1);
      case 'silent cap at 5':
        return entries.slice(0, 5);
      case 'real delisting of 3 %':
        return entries.filter(({ match }) => !delisted.has(match.id));
      case 'programme dropped':
        return entries.filter((entry) => entry.list !== 'ofac' || entry.programme !== programme);
      case 'all ids new':
        return entries.map((entry) => ({ ...entry, match: { ...entry.match, id: `${entry.match.id}_new` } }));
    }
  };
  return (name) => rank(change(answers.get(name) ?? [])).map(({ match }) => match);
}

/** What the service answers on a good night. */
const toGoodNight =
  ({ answers }: UnreliableWorld) =>
  (name: string): readonly Match[] =>
    (answers.get(name) ?? []).map(({ match }) => match);

/**
 * Shows which nights are held: each kind of night over worlds of 20 seeds, through the whole pipeline on Postgres for the smaller rosters, and
 * by the same comparison of the same answers alone for the larger ones.
 */
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '20' },
    customers: { type: 'string', default: '500,2000' },
    pure: { type: 'string', default: '500,2000,20000' },
  },
});
const seeds = Array.from({ length: Number(values.seeds) }, (_, index) => index + 1);
const toSizes = (list: string): number[] => list.split(',').filter(Boolean).map(Number);
const kinds = Object.keys(nights).filter((kind): kind is Night => kind in nights);
const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** What became of a night: whether it was held, and how many customers lost known hits. */
interface NightOutcome {
  isHeld: boolean;
  losers: number;
}

const countLosers = (world: UnreliableWorld, night: Night): number => {
  const [before, after] = [toGoodNight(world), toNight(world, night)];
  const countHits = (matches: readonly Match[]): number => matches.filter(({ isHit }) => isHit).length;
  return [...new Set(world.names)].filter((name) => countHits(after(name)) < countHits(before(name))).length;
};

function assessAlone(world: UnreliableWorld, night: Night): NightOutcome {
  const tally = new VanishedTally(topicFamiliesSchema.parse({}));
  const [before, after] = [toGoodNight(world), toNight(world, night)];
  for (const [requestId, name] of [...new Set(world.names)].entries()) {
    tally.add({ requestId, before: before(name), after: after(name), isCompared: true });
  }
  const isHeld = assessVanished(tally.figures(), {}, toHoldBounds()).length > 0;
  return { isHeld, losers: countLosers(world, night) };
}

/** A service that answers searches by a function and finds the listed control. */
async function startService() {
  const searchShape = z.object({ type: z.string(), name: z.string() });
  let answer: (name: string) => readonly Match[] = () => [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const isSearch = request.method === 'POST';
    const said = isSearch
      ? toAnswer(searchShape.parse(JSON.parse(body)))
      : { public_key: 'public_sandbox_trial', is_test: true };
    response.writeHead(isSearch ? 201 : 200, { 'content-type': 'application/json' }).end(JSON.stringify(said));
  });
  const toAnswer = ({ type, name }: z.infer<typeof searchShape>): object => {
    const [listed] = campaignControls;
    const control: readonly Match[] = [
      {
        rank: 1,
        id: 'amla_c',
        name,
        schema: 'Person',
        isHit: true,
        score: 1,
        topics: ['sanction'],
        birthDates: [],
        countries: [],
      },
    ];
    const matches = name === listed.name ? control : answer(name);
    const results = matches.map(({ rank: _, isHit: match, birthDates: birth_date, countries: country, ...others }) => ({
      ...others,
      match,
      birth_date,
      country,
    }));
    return { query: name, type, total: results.length, results };
  };
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = z.object({ port: z.number() }).parse(server.address());
  return {
    url: `http://127.0.0.1:${port}/v1`,
    answerBy: (by: typeof answer) => {
      answer = by;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

type Service = Awaited<ReturnType<typeof startService>>;

/** Plays a good night, and each kind of night after it on a copy of its database. */
async function playAll(
  server: PostgresServer,
  service: Service,
  world: UnreliableWorld,
): Promise<Map<Night, NightOutcome>> {
  const path = join(await mkdtemp(join(tmpdir(), 'nightscreen-holds-')), 'roster.csv');
  await writeFile(path, toCsv(world.names));
  const roster = toFileRoster('people', path);
  const toUrl = (name: string): string => new URL(`/${name}`, server.url).href;
  const admin = await openDatabase({ url: server.superuserUrl }, 'trial');
  const play = async (name: string, offsetMs: number): Promise<{ exitCode: number; reasons: readonly string[] }> => {
    const database = await openDatabase({ url: toUrl(name) }, 'trial');
    await migrate(database);
    const rate = { perSecond: 5_000, concurrency: 16 };
    const settings = { rosters: [roster], controls: campaignControls };
    const sandbox = { url: service.url, privateKey: `private_sandbox_${'k'.repeat(24)}` };
    const app = await makeAppContext(database, sandbox, { offsetMs, rate, settings });
    const options = { kind: 'rescreen', roster, selection: 'due', importFirst: true, writeReport: false } as const;
    try {
      return await runScreening(app, options, new AbortController().signal);
    } finally {
      await app.client().close();
      await database.close();
    }
  };
  const base = `holds_${randomBytes(6).toString('hex')}`;
  await admin.execute(createDatabaseSql(base));
  service.answerBy(toGoodNight(world));
  const first = await play(base, -24 * 60 * 60 * 1_000);
  if (first.exitCode !== 0) throw new Error(`the first night was not complete: ${first.reasons.join('; ')}`);
  const outcomes = new Map<Night, NightOutcome>();
  for (const kind of kinds) {
    const copy = `${base}_copy`;
    await admin.execute(createDatabaseSql(copy, `template ${base} strategy file_copy`));
    service.answerBy(toNight(world, kind));
    const { reasons } = await play(copy, 0);
    const isHeld = reasons.some((reason) => reason.includes('are held'));
    outcomes.set(kind, { isHeld, losers: countLosers(world, kind) });
    await admin.execute(`drop database ${copy} with (force)`);
  }
  await admin.execute(`drop database ${base} with (force)`);
  await admin.close();
  return outcomes;
}

function print(title: string, outcomes: ReadonlyMap<Night, readonly NightOutcome[]>): void {
  say(`\n${title}`);
  say('| night | held | missed | held in vain | passed | customers that lost hits in missed nights (most) |');
  say('|---|---|---|---|---|---|');
  for (const [kind, all] of outcomes) {
    const isMeant = nights[kind].isHeld;
    // A night in which nobody lost a hit has nothing to hold.
    const held = all.filter((one) => one.isHeld && isMeant).length;
    const missed = all.filter((one) => !one.isHeld && isMeant && one.losers > 0);
    const inVain = all.filter((one) => one.isHeld && !isMeant).length;
    const passed = all.length - held - missed.length - inVain;
    const most = missed.length === 0 ? '-' : Math.max(...missed.map(({ losers }) => losers));
    say(`| ${kind} | ${held} | ${missed.length} | ${inVain} | ${passed} | ${most} |`);
  }
}

const service = await startService();
const server = await startPostgres();
try {
  for (const customers of toSizes(values.pure)) {
    const worlds = seeds.map((seed) => makeUnreliableWorld(seed, customers));
    print(
      `${customers} customers, ${seeds.length} seeds, the comparison alone`,
      new Map(kinds.map((kind) => [kind, worlds.map((world) => assessAlone(world, kind))])),
    );
  }
  for (const customers of toSizes(values.customers)) {
    const begunMs = performance.now();
    const all = new Map<Night, NightOutcome[]>(kinds.map((kind) => [kind, []]));
    for (const seed of seeds) {
      const outcomes = await playAll(server, service, makeUnreliableWorld(seed, customers));
      for (const [kind, outcome] of outcomes) all.get(kind)?.push(outcome);
      const held = [...outcomes].flatMap(([kind, { isHeld }]) => (isHeld ? [kind] : []));
      process.stderr.write(`${customers} customers, seed ${seed}: held ${held.join(', ')}\n`);
    }
    print(
      `${customers} customers, ${seeds.length} seeds, whole nights on Postgres (${((performance.now() - begunMs) / 1_000).toFixed(0)} s)`,
      all,
    );
  }
} finally {
  service.close();
  await server.stop();
}
