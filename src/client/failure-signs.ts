// A 2xx answer whose body says that the service could not do what it was asked. The interface knows no such fields, so they are found by
// their names and what they say. A field in doubt counts as a sign: an answer that is refused is searched again, a failure that is taken
// for an empty list is a customer who reads as clear.

/** Compares names and short texts without case, blanks and punctuation: `timed_out`, `timedOut` and `TIMED OUT` are one. */
const fold = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');

const faults =
  '(errors?|faults?|failures?|failed|exceptions?|problems?)(codes?|counts?|messages?|details?|descriptions?|reasons?|types?)?';
const gaps =
  'partial|partialresults?|incomplete|unfinished|timedout|degraded|aborted|cancell?ed|interrupted|terminatedearly|unavailable';
const sources = '(sources?|lists?|datasets?|databases?|providers?|index|indexes|indices|shards?|searches)';
/** Fields that name a fault or a gap unless they are empty. */
const faultField = new RegExp(
  `^((is|has|was)?(${faults}|${gaps})|(failed|unavailable|missing|skipped|timedout)${sources}|${sources}(failed|unavailable|missing|skipped)|retryafter(seconds|ms)?)$`,
);
/** Fields that name a gap where they say yes; their numbers are limits. */
const gapField = /^(is|was)?(timeout|truncated|resultstruncated|hasmore|pending|processing|queued|inprogress|retry)$/;
/** Fields that name a gap where they say no. */
const wholeField =
  /^(is|was|all)?(complete|completed|success|successful|succeeded|ok|finished|done|searched|screened)$/;
const statusField =
  /^(search|screening|request|response|query|result|results|service)?(http)?(status|state|outcome|code|statuscode|result)$/;
const messageField = /^(status)?(message|msg|detail|details|reason|title)s?$/;

/** What the fields say that name no fault. */
const harmless = /^(0|no|none|null|nil|na|false|ok|okay|success|noerrors?|nofailures?)?$/;
const failedStatus =
  /fail|error|partial|incomplete|notcomplete|unsuccess|timeout|timedout|unavailable|abort|cancel|degraded|exception|interrupt|truncated|outage/;
/** A status of the answer itself, not of a record in it, such as a dossier. */
const unfinishedStatus =
  /^(pending|processing|queued|running|inprogress|started|waiting|retry|rejected|denied|invalid|blocked|throttled|ratelimited|offline|down|maintenance|unknown)$/;
const noFailure = /\b(no|without|zero|0) (errors?|failures?)\b/gi;
const failedMessage =
  /\b(errors?|fail|fails|failed|failure|failures|unavailable|timeout|timed out|time-out|partial|partially|incomplete|not complete|aborted|degraded|exception|could not|cannot|unable|try again|retry|maintenance|overloaded|interrupted)\b/i;

/** Repeats of what was sent, whose words say nothing about the answer, and mere warnings. */
const unjudged: ReadonlySet<string> = new Set([
  'request',
  'query',
  'parameters',
  'params',
  'options',
  'filters',
  'input',
  'settings',
  'warnings',
  'warning',
]);
/** What is said in these is said about the answer itself. */
const ownFields: ReadonlySet<string> = new Set([
  'meta',
  'metadata',
  'response',
  'status',
  'search',
  'info',
  'header',
  'execution',
]);
const noFields: ReadonlySet<string> = new Set();
const greatestDepth = 20;

const isYes = (value: unknown): boolean => !isObject(value) && /^(true|yes|1)$/.test(fold(String(value)));
const isNo = (value: unknown): boolean => !isObject(value) && /^(false|no|0)$/.test(fold(String(value)));

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Whether a field says anything besides that there is no fault. */
function isFilled(value: unknown, depth: number): boolean {
  if (isObject(value)) return depth > greatestDepth || Object.values(value).some((each) => isFilled(each, depth + 1));
  return value !== null && value !== false && !harmless.test(fold(String(value)));
}

function isFailedStatus(value: unknown, isOwn: boolean): boolean {
  if (typeof value === 'number') return value >= 400 && value < 600;
  if (typeof value === 'boolean') return isOwn && !value;
  if (typeof value !== 'string') return false;
  const status = fold(value);
  if (harmless.test(status)) return false;
  return failedStatus.test(status) || /^[45]\d\d$/.test(status) || (isOwn && unfinishedStatus.test(status));
}

const isFailedMessage = (value: unknown): boolean =>
  [value].flat().some((text) => typeof text === 'string' && failedMessage.test(text.replace(noFailure, '')));

function isSign(field: string, value: unknown, isOwn: boolean): boolean {
  if (faultField.test(field)) return isFilled(value, 0);
  if (gapField.test(field)) return isYes(value);
  if (wholeField.test(field)) return isNo(value);
  if (statusField.test(field)) return isFailedStatus(value, isOwn);
  return isOwn && messageField.test(field) && isFailedMessage(value);
}

/**
 * The field by which an answer says that the service failed, or did only a part; undefined without one. `known`: the fields of the
 * interface, which say nothing of this. Other fields may say whatever they like.
 */
export function findFailureSign(answer: unknown, known: ReadonlySet<string>): string | undefined {
  return find(answer, known, true, 0);
}

function find(value: unknown, skipped: ReadonlySet<string>, isOwn: boolean, depth: number): string | undefined {
  if (!isObject(value) || depth > greatestDepth) return undefined;
  for (const [name, content] of Object.entries(value)) {
    const field = fold(name);
    if (skipped.has(field) || unjudged.has(field)) continue;
    if (isSign(field, content, isOwn)) return field;
    const isOwnWithin = Array.isArray(value) ? isOwn : ownFields.has(field);
    const within = find(content, noFields, isOwnWithin, depth + 1);
    if (within !== undefined) return within;
  }
  return undefined;
}
