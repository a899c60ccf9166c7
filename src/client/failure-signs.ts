// A 2xx answer whose body says that the service could not do what it was asked. The interface knows no such fields, so
// the words of their names and what they say are the only signs. A failure taken for an empty list is a customer
// who reads as clear. A harmless field taken for a failure may stand in every answer, and then no customer is
// ever clear. So only what concerns the search counts.

const toSet = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/));

/** Words of a name that mean a fault or a gap, unless the field is empty, 0 or no. */
const faults = toSet(`err error errors errored errmsg errcode errno haserror haserrors fault faults fail failed failing
  failure failures exception exceptions problem problems partial incomplete unfinished timed timedout timeouts degraded
  aborted cancelled canceled interrupted unavailable unsuccessful unsearched unscreened`);
/** Words of a name that mean a gap where the field says yes or lists something. Other numbers are limits. */
const gaps = toSet(
  'timeout truncated more hasmore pending processing queued progress inprogress skipped limited throttled retry',
);
/** Words of a name that mean a gap where the field says no. */
const wholes = toSet(`complete completed iscomplete completeness success successful succeeded ok finished done searched
  screened available`);
const counts = toSet('count counts total num number');
/** Without a match, they are not available. */
const results = toSet('result results data');
const codes = toSet('code status statuscode errcode errorcode errno');
/** Words of a name that mean a setting. */
const settings = toSet(`allow allowed ignore on max maximum tolerance tolerant threshold handling policy fast safe ratio
  score fields docs url`);
/** Parts of a service that are not its search. */
const foreign = toSet(`subscription billing payment invoice profile monitoring account quota webhook webhooks user
  customer dossier login email sms review reviews`);
const sources = toSet(`source sources list lists watchlist watchlists dataset datasets database databases provider
  providers index indexes indices shard shards searches`);
/** An object of these says of each source, or of the search, how it ended. */
const statuses = new Set([...sources, 'status']);
const texts = toSet(`message messages msg detail details info warning warnings notice notices reason reasons title
  description status state outcome result code statuscode`);
/** An object of these words belongs to the search. */
const parts = new Set([
  ...sources,
  ...texts,
  ...toSet(`aml search screening data job task meta metadata response results header execution engine service summary
    stats coverage upstream body payload answer sanctions pep peps ofac`),
]);
const ownWords = new Set([...parts, ...wholes, ...toSet('request query http text is was has all')]);
/** Within the answer, these name a list: `FDIC failed banks`. */
const labels = toSet('name title description label');

/** What a field says that names no fault. */
const harmless = /^(0+|no|none|null|nil|na|n a|false|ok|okay|success|successful|complete|completed)?$/;
const successCode = /^(0+|20[0-4])$/;
const failedCode = /^(20[67]|[45]\d\d)$/;
const fault = '(errors?|failures?|failed|exceptions?|timeouts?|problems?)';
const match = '(match|matches|results?|hits?|records?|entries)';
const unable = '(could not|couldn t|cannot|can not|unable to|failed to|did not)';
const index = '(index|shard|dataset|backend|server)';
const search = '(results?|search|answer|response|screening|coverage)';
/** What is ordinary where nothing is found, or nothing is wrong; of partial names; and what lies ahead. */
const ordinary = [
  String.raw`\b(no|without|without any|zero|0|0 of \d+) (\w+ )?${fault}\b( found| occurred)?`,
  String.raw`\b(error|failure) (free|rate)\b|\bfree of errors\b|\bretry (count|after)\b`,
  String.raw`\b(no|zero|0) (\w+ )?${match}\b( (were|was|could be))?( (found|located|available|returned))?`,
  String.raw`(?<!${index} )\b${unable} (be )?(find|found|match(ed)?|located?)\b(?! (the |an? )?(\w+ )?${index}\b)`,
  String.raw`\bpartial (\w+ )?(match|matches|matching|names?)\b`,
  String.raw`\bwill be \w+`,
].map((phrase) => new RegExp(phrase, 'g'));
/** Words of a status, or of a text as short as one. */
const failedWords = new Set([...faults, ...toSet('partially timeout terminated truncated outage')]);
const longestStatus = 3;
/** What is said only of a search that failed or left something out. */
const failedText = [
  '^(not (complete|completed|started)|pending|processing|queued|in ?progress|running|started|waiting|retry)$',
  '^(rejected|denied|invalid|blocked|throttled|rate ?limited|offline|down|maintenance|unknown)$',
  'could not|couldn t|unable to',
  String.raw`(cannot|can not|did not) (be )?(search|screen|complete|process|answer|finish)\w*`,
  String.raw`(cannot|can not|did not) (be )?(reach|read|connect|load|respond|access)\w*`,
  'failed|failure(?! to)|unavailable|e?timed ?out|aborted|interrupted|degraded|overloaded',
  '(is|was|been|request|search) cancell?ed|connection (refused|reset)|too many requests|bad gateway',
  '^(an )?(error|exception)',
  '(server|service|internal|upstream|search|query|index|gateway) (error|exception|timeout)',
  '(errors?|exceptions?|timeout) (has |have )?(occurred|while|during|exceeded)',
  String.raw`(completed|finished|done) with (\w+ )?(errors|failures)`,
  `${search} ((may be|is|are|was|were) )?(temporarily )?(incomplete|not completed?|partial|truncated)`,
  `(incomplete|partial) (${search}|list)|partially (searched|screened|completed)|not (searched|screened)`,
  'not (all|every) (lists?|sources?|datasets?|databases?|index|indexes|shards?)',
  `${index} (was )?not found|under maintenance|rate limit(ed| exceeded)`,
  '(service|search|screening|index|lists?|sources?) (is |are )?(currently |temporarily )?not available',
  '(try again|retry) (later|in|soon|shortly)|please retry',
  'went wrong|offline|(is|are|currently) down|(was|were|been) skipped',
  'still (running|searching|processing)|being processed|queued for (search|processing)',
].map((phrase) => new RegExp(String.raw`\b(${phrase})\b`));
const clauseEnd = /[^\p{L}\p{N}\s'’_-]+|\s[-–]\s/u;
const greatestDepth = 20;

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** `timed_out`, `timedOut` and `TIMED OUT` are the same words. */
const toPlain = (text: string): string =>
  text
    .replace(/(?<=[\p{Ll}\d])(?=\p{Lu})/gu, ' ')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

/** A text without what is ordinary in it. Clauses stay apart before: `Results: 0. Search failed`. */
const toNews = (text: string): string =>
  toPlain(ordinary.reduce((rest, phrase) => rest.replace(phrase, ' '), text.split(clauseEnd).map(toPlain).join(' | ')));

const splitName = (name: string): readonly string[] => toNews(name).split(' ');

const isYes = (value: unknown): boolean => !isObject(value) && /^(true|yes)$/i.test(String(value));
const isNo = (value: unknown): boolean => !isObject(value) && /^(false|no|0)$/i.test(String(value));
const isAny = (words: readonly string[], set: ReadonlySet<string>): boolean => words.some((word) => set.has(word));
const isAll = (words: readonly string[], set: ReadonlySet<string>): boolean => words.every((word) => set.has(word));

/** Whether a field says anything besides that there is no fault. */
function isFilled(value: unknown, words: readonly string[], depth = 0): boolean {
  if (isObject(value)) {
    if (depth > greatestDepth) return true;
    return Object.entries(value).some(([name, each]) => isFilled(each, splitName(name), depth + 1));
  }
  if (value === null || value === undefined || value === false) return false;
  if (isAny(words, codes) && successCode.test(String(value))) return false;
  return !harmless.test(toNews(String(value)));
}

/** Whether a status or a message means a failure. */
function isFailedText(value: unknown): boolean {
  if (Array.isArray(value)) return value.some((each) => typeof each === 'string' && isFailedText(each));
  if (typeof value !== 'string') return false;
  const text = toNews(value);
  const words = text.split(' ');
  if (words.length <= longestStatus && isAny(words, failedWords)) return true;
  return failedCode.test(text) || failedText.some((phrase) => phrase.test(text));
}

function isUnwhole(value: unknown, words: readonly string[]): boolean {
  if (words.includes('available') && isAny(words, results)) return false;
  const isShare = words.includes('completeness') && typeof value === 'number';
  return isShare ? value !== 1 && value !== 100 : isNo(value);
}

function isFailedStatus(value: unknown, words: readonly string[]): boolean {
  if (typeof value === 'number') return isAny(words, codes) && failedCode.test(String(value));
  return value === false ? words.includes('status') : isFailedText(value);
}

function isSign(words: readonly string[], value: unknown): boolean {
  if (!isAny(words, settings)) {
    const isFault = words.some((word) => faults.has(word) || word.startsWith('error'));
    const isMissing = words.includes('missing') && isAny(words, sources);
    const isNotWhole = words.includes('not') && isAny(words, wholes);
    if (isFault || isMissing || isNotWhole) return isFilled(value, words);
    const isListOrCount = Array.isArray(value) || isAny(words, counts);
    if (isAny(words, gaps)) return isYes(value) || (isListOrCount && isFilled(value, words));
  }
  if (!isAll(words, ownWords)) return false;
  return (isAny(words, wholes) && isUnwhole(value, words)) || (isAny(words, texts) && isFailedStatus(value, words));
}

/**
 * The field by which an answer says that the service failed, or did only a part; undefined without one. The fields of
 * the interface, `known`, say nothing of this. Other fields may say whatever they like.
 */
export function findFailureSign(answer: unknown, known: ReadonlySet<string>): string | undefined {
  if (!isObject(answer)) return undefined;
  const others = Object.entries(answer).filter(([name]) => !known.has(fold(name)));
  return find(Object.fromEntries(others), false, 0);
}

const fold = (name: string): string => toPlain(name).replaceAll(' ', '');

/** `isStatus`: each text is the status of a source, or of the search. */
function find(value: object, isStatus: boolean, depth: number): string | undefined {
  if (depth > greatestDepth) return undefined;
  for (const [name, content] of Object.entries(value)) {
    const words = splitName(name);
    if (isAny(words, foreign) || (depth > 0 && isAll(words, labels))) continue;
    if (isSign(words, content) || (isStatus && typeof content === 'string' && isFailedText(content))) return fold(name);
    if (!isObject(content) || !(Array.isArray(value) || isStatus || isAll(words, parts))) continue;
    const isStatusWithin = !Array.isArray(value) && !Array.isArray(content) && isAny(words, statuses);
    const within = find(content, isStatusWithin, depth + 1);
    if (within !== undefined) return within;
  }
  return undefined;
}
