import { type PageSection, showFacts, showText } from '../../reports/html-markup.js';
import { showPageHead, showSection } from '../../reports/html-page.js';
import { describeReason } from '../../reports/reasons.js';
import type { Fact, FactBlock } from '../../reports/section.js';
import { countNoun, formatTime, keep } from '../../reports/text.js';
import { describeBirthDate } from '../../reports/words.js';
import { type CustomerEvidence, type EvidenceRun, isScreened } from '../../runs/evidence-show.js';
import type { AlertThen, ShownParty } from '../../store/evidence/show.js';
import type { FactsOf, matchSchema } from '../../vocabulary/facts.js';
import { codeWords, describeDisposition, describeTopic, toWords } from '../../vocabulary/words.js';
import { formatTable } from '../text.js';

/** The blocks as text. */
export const formatBlocks = (blocks: readonly FactBlock[]): string =>
  blocks
    .map(
      ({ title, facts }) =>
        `${title}\n${formatTable(facts.map(([name, value, note]) => [name, keep(value, note).join(', ')]))}`,
    )
    .join('\n');

/** The evidence in blocks of facts, as the screen and the page show it. */
export function listBlocks(evidence: CustomerEvidence): readonly FactBlock[] {
  return keep(
    { title: 'Result', facts: listResult(evidence) },
    ...evidence.runs.flatMap(listRunBlocks),
    ...evidence.alerts.map(toAlertBlock),
    { title: 'Not proven', facts: [['lists', withheld]] },
  );
}

const withheld = 'The service does not disclose the versions of its lists, nor what they held at that time.';

function listResult(evidence: CustomerEvidence): FactBlock['facts'] {
  const { reference, roster, organisation, at, state, record, erasure } = evidence;
  const stateText =
    state === null
      ? 'none recorded'
      : `${codeWords.state[state.state].name}, since ${formatTime(state.changedAt)}${state.reason === null ? '' : ` (${describeReason(state.reason)})`}`;
  return keep<Fact>(
    ['customer', `${reference} in ${roster} of ${organisation}`],
    erasure !== null && [
      'ERASED',
      `at ${formatTime(erasure.erasedAt)} by ${erasure.erasedBy}: ${erasure.reason}`,
      'what was personal is gone; numbers, times and outcomes stay',
    ],
    ['at', formatTime(at)],
    ['result', describeVerdict(evidence)],
    evidence.runs[0]?.mode === 'test' && ['TEST', 'not evidence: a test key was used'],
    evidence.runs.length > 0 && ['recorded state', stateText],
    record !== null && [
      'record then',
      `version ${record.version} of ${formatTime(record.importedAt)}, risk tier ${record.riskTier ?? 'none'}`,
    ],
    ...(record?.parties ?? []).flatMap((party): readonly Fact[] => {
      if (party === null) return [];
      const { role, name, type, birthDate, countries } = party;
      const born = birthDate === null ? 'no birth date' : `born ${describeBirthDate(birthDate)}`;
      return [[codeWords.role[role], keep(name, type, born, ...countries).join(', ')]];
    }),
  );
}

function describeVerdict({ verdict, because, runs }: CustomerEvidence): string {
  const why = because === null ? '' : `: ${describeReason(because)}`;
  switch (verdict) {
    case 'screened':
      return `screened, ${describeAnswers(runs)}`;
    case 'screened_earlier':
      return `screened by an earlier run, ${describeAnswers(runs)}; the newest run skipped the search${why}`;
    case 'not_screened':
      return `NOT SCREENED${why}`;
    default:
      return because === 'history_gone'
        ? 'UNKNOWN: the runs of that time are no longer in this database; look into their packs of evidence or a backup'
        : 'NOT SCREENED: no run had this customer in scope by then; name a later date, or see `nightscreen status`';
  }
}

/** The answers that count, in sum. */
function describeAnswers(runs: readonly EvidenceRun[]): string {
  const answers = runs.flatMap(({ parties }) => parties.filter(isScreened).flatMap(({ answer }) => answer ?? []));
  const total = answers.reduce((sum, { total }) => sum + total, 0);
  const hits = answers.reduce((sum, { hits }) => sum + hits, 0);
  const isCut = answers.some(({ truncated }) => truncated);
  if (total === 0 && !isCut) return 'no results';
  return `${countNoun(total, 'result')}, ${countNoun(hits, 'hit')}${isCut ? ', truncated' : ''}`;
}

function listRunBlocks(run: EvidenceRun, index: number): readonly FactBlock[] {
  const { runId, parties } = run;
  const title = index === 0 ? `Run ${runId}` : `Run ${runId}, which last searched for what the newest run skipped`;
  const facts = [...listRunFacts(run), ...listReports(run), ...listPacks(run)];
  return [...parties.map((party) => toPartyBlock(party, runId)), { title, facts }];
}

function listRunFacts(run: EvidenceRun): FactBlock['facts'] {
  const { state, startedAt, finishedAt, version, settingsDigest, controls, hold, acceptances, gap } = run;
  return keep<Fact>(
    ['state now', codeWords.runState[state]],
    ['time', `${formatTime(startedAt)} to ${finishedAt === null ? 'now' : formatTime(finishedAt)}`],
    gap !== null && ['gap', describeReason(gap)],
    hold !== null && ['held', `since ${formatTime(hold.heldAt)}: ${hold.reasons.join('; ')}`],
    ...acceptances.map(({ acceptedBy, isAttested, isProposal, reason, acceptedAt }): Fact => {
      const who = `${acceptedBy}${isAttested ? ' (attested)' : ''}`;
      return [isProposal ? 'proposed' : 'accepted', `by ${who} at ${formatTime(acceptedAt)}: ${reason}`];
    }),
    ['control searches', `${controls.passed} passed, ${controls.failed} failed`],
    ['version', `${version}, settings ${settingsDigest}`],
  );
}

function listReports({ reports, mails }: EvidenceRun): FactBlock['facts'] {
  return [
    ...reports.map(({ revision, createdAt, manifestSha256 }): Fact => {
      const digest = manifestSha256 === null ? 'not written' : 'SHA-256 of its manifest';
      return ['report', `revision ${revision} of ${formatTime(createdAt)}, ${digest}`, manifestSha256];
    }),
    ...mails.map(({ to, kind, state, sentAt, messageId }): Fact => {
      const ended =
        sentAt === null
          ? `not accepted by the server (${toWords(state)})`
          : `accepted by the server at ${formatTime(sentAt)}`;
      return [
        'mail',
        `${toWords(kind)} to ${to ?? 'recipients not known yet'}: ${ended}${messageId === null ? '' : `, ${messageId}`}`,
      ];
    }),
  ];
}

function listPacks({ hasPacks, packs, finishedAt }: EvidenceRun): FactBlock['facts'] {
  if (packs.length === 0) {
    const none = finishedAt === null ? 'none yet: the run has not ended' : 'none: the run has no pack of evidence';
    return [['pack', hasPacks ? none : 'none: `evidence: off` in the settings of the run']];
  }
  return packs.map(({ ending, sequence, folder, manifestSha256 }): Fact => {
    const place = `${sequence === null ? 'without a number yet' : `number ${sequence}`} (${ending}), ${folder}`;
    const proof = manifestSha256 === null ? 'WAITS: it is not written yet' : 'SHA-256 of its manifest';
    return ['pack', `${place}, ${proof}`, manifestSha256];
  });
}

function toPartyBlock(party: ShownParty, runId: string): FactBlock {
  const { role, type, name, reason, outcome, because, reusedFrom, answeredAt, calls } = party;
  const known = role === null ? 'former party' : codeWords.role[role];
  const what = outcome === 'remaining' ? 'not screened' : outcome;
  return {
    title: `Search in run ${runId}`,
    facts: keep<Fact>(
      ['sent', `${name} (${type}); ${known}`],
      ['planned as', describeReason(reason)],
      ['outcome', `${what}${because === null ? '' : `: ${describeReason(because)}`}`],
      reusedFrom !== null && ['answer of', reusedFrom],
      ...calls.map(({ startedAt, endedAt, status, outcome, serviceRequestId }): Fact => {
        const until = endedAt === null ? 'no end noted' : formatTime(endedAt);
        const facts = keep(until, status !== null && `status ${status}`, describeReason(outcome), serviceRequestId);
        return ['call', `sent ${formatTime(startedAt)}, ended ${facts.join(', ')}`];
      }),
      answeredAt !== null && ['answered', formatTime(answeredAt)],
      ...listAnswer(party),
    ),
  };
}

function listAnswer(party: ShownParty): FactBlock['facts'] {
  const { answer } = party;
  if (answer === null) return [];
  const { total, hits, truncated, pack, number, matches } = answer;
  const size = total === 0 && !truncated ? 'no results' : `${countNoun(total, 'result')}, ${countNoun(hits, 'hit')}`;
  const cut = truncated ? ', truncated: the service has more than it returned' : '';
  const place = pack === null ? 'in no pack yet' : `answer ${number} of pack ${pack}`;
  return [
    ['answer', `${isScreened(party) ? '' : 'does not count: '}${size}${cut}`],
    ['evidence', place],
    ...matches.map((match): Fact => [`rank ${match.rank}`, describeMatch(match)]),
  ];
}

function describeMatch({ id, name, schema, topics, birthDates, countries, score, isHit }: FactsOf<typeof matchSchema>) {
  return keep(
    `${name} (${id})`,
    schema,
    topics.map(describeTopic).join(', ') || 'no risk category',
    birthDates.length > 0 && `born ${birthDates.join(' or ')}`,
    countries.join(', '),
    `score ${score}`,
    isHit ? 'hit' : 'no hit',
  ).join('; ');
}

function toAlertBlock({ alert, openedAt, listed, events, dispositions }: AlertThen): FactBlock {
  const none: Fact = ['dispositions', 'none by then'];
  return {
    title: `Alert ${alert}, about ${listed.name} (${listed.id})`,
    facts: [
      ['opened', formatTime(openedAt)],
      ...events.map(({ at, kind, reasons, actor }): Fact => {
        const why = reasons.length === 0 ? '' : `: ${reasons.map(toWords).join(', ')}`;
        return ['event', `${formatTime(at)} ${toWords(kind)}${actor === null ? '' : ` by ${actor}`}${why}`];
      }),
      ...(dispositions.length === 0 ? [none] : dispositions.flatMap(listDisposition)),
    ],
  };
}

function listDisposition(said: AlertThen['dispositions'][number]): FactBlock['facts'] {
  const { number, kind, verdict, reviewer, isAttested, decidedAt, reason, comment, seen, pack } = said;
  const what = verdict === null ? kind : `${kind} ${describeDisposition(verdict)}`;
  const who = `${reviewer}${isAttested ? ' (attested)' : ''}`;
  const place = pack === null ? 'in no pack yet' : `number ${number} of pack ${pack}`;
  return [
    ['disposition', `${formatTime(decidedAt)} ${what} by ${who}: ${keep(reason, comment).join(' - ')}; ${place}`],
    [
      'on the facts',
      seen === null ? 'erased' : `listed ${describeSeen(seen.listed)}; customer ${describeSeen(seen.customer)}`,
    ],
  ];
}

type SeenParty = { name: string; countries: readonly string[] } & (
  | { birthDates: readonly string[] }
  | { birthDate: string | null }
);

function describeSeen(seen: SeenParty): string {
  const dates = 'birthDates' in seen ? seen.birthDates : keep(seen.birthDate);
  return [seen.name, `born ${dates.join(' or ') || 'unknown'}`, seen.countries.join(', ') || 'no country'].join(', ');
}

const levels = { screened: 'complete', screened_earlier: 'partial', not_screened: 'red', no_run: 'red' } as const;

/** The evidence as one page that needs no network, no other file and no script, and prints on A4. */
export async function* renderCertificate(
  evidence: CustomerEvidence,
  blocks: readonly FactBlock[],
): AsyncGenerator<string> {
  const { reference, verdict, runs } = evidence;
  const [run] = runs;
  const title = `Screening of ${reference}`;
  const page = { runId: run?.runId ?? '', mode: run?.mode ?? 'live', title, level: levels[verdict] };
  yield String(await showPageHead(page, null));
  yield `<h1>${String(await showText(title))}</h1>\n`;
  const sections = blocks.map(
    ({ title, facts }, index): PageSection => ({ id: `part-${index}`, title, body: showFacts(facts) }),
  );
  for (const section of sections) yield String(await showSection(section));
  yield '\n</main>\n</body>\n</html>\n';
}
