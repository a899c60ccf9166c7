/** When, in a transaction or beside it, something is about to happen. */
export type Moment = 'before_commit' | 'in_commit' | 'after_commit' | 'before_statement';

/** A statement of the run by a mark of its SQL, and the moment beside it at which the process is to die. */
export interface StatementPoint {
  mark: RegExp;
  moment: Moment;
}

/** The points of a run that are met in the database, in the order of the flow. */
export const statementPoints = {
  in_import: { mark: /(?:insert into|copy) roster_staging /, moment: 'before_commit' },
  in_merge: { mark: /insert into roster_import /, moment: 'before_commit' },
  after_import: { mark: /insert into roster_import /, moment: 'after_commit' },
  in_planning: { mark: /insert into screening \(/, moment: 'before_commit' },
  in_planning_commit: { mark: /insert into screening \(/, moment: 'in_commit' },
  in_controls: { mark: /insert into canary_outcome /, moment: 'before_commit' },
  in_intent_commit: { mark: /insert into search_attempt /, moment: 'in_commit' },
  before_commit: { mark: /insert into commit_batch /, moment: 'before_commit' },
  in_commit: { mark: /insert into commit_batch /, moment: 'in_commit' },
  after_commit: { mark: /insert into commit_batch /, moment: 'after_commit' },
  in_finishing: { mark: /^update run set state = .* sums = /, moment: 'before_commit' },
  in_finishing_commit: { mark: /^update run set state = .* sums = /, moment: 'in_commit' },
  after_finishing: { mark: /^update run set state = .* sums = /, moment: 'after_commit' },
  in_reporting: { mark: /^insert into report /, moment: 'after_commit' },
  after_report_files: { mark: /^update report set manifest_sha256 = /, moment: 'before_statement' },
  before_sending: { mark: /^insert into outbox .* values /, moment: 'after_commit' },
  before_noting_sent: { mark: /^update outbox set attempts = attempts \+ 1/, moment: 'before_statement' },
} as const satisfies Record<string, StatementPoint>;

/** The points of a call that are met on the wire: nothing sent yet, sent, headers back, answer read and nothing stored. */
export const callPoints = ['before_call', 'in_call', 'in_answer', 'after_answer'] as const;

/** A named point at which a process is to die. */
export type KillPoint = keyof typeof statementPoints | (typeof callPoints)[number];

const isStatementPoint = (point: string): point is keyof typeof statementPoints =>
  Object.hasOwn(statementPoints, point);

/** The statement that a point is met at, or undefined for a point on the wire. */
export const findStatementPoint = (point: KillPoint): StatementPoint | undefined =>
  isStatementPoint(point) ? statementPoints[point] : undefined;

/** Whether the database is in the middle of a commit at a point, or about to begin one. */
export const isInDatabase = (point: KillPoint): boolean => {
  const moment = findStatementPoint(point)?.moment;
  return moment === 'before_commit' || moment === 'in_commit';
};

/** Points of a run before it is over, in the order of the flow. */
export const pointsOfRun: readonly KillPoint[] = [
  'in_import',
  'in_merge',
  'after_import',
  'in_planning',
  'in_planning_commit',
  'in_controls',
  'in_intent_commit',
  ...callPoints,
  'before_commit',
  'in_commit',
  'after_commit',
  'in_finishing',
];

/** Points after which the run itself may be over, so that only its report has to be made again. */
export const pointsOfReport: readonly KillPoint[] = ['in_finishing_commit', 'in_reporting', 'after_report_files'];
