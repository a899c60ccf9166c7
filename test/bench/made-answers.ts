import type { AmlSearchResult } from '../../src/client/aml.js';
import type { FinishedSearch } from '../../src/runs/screening/commit.js';
import type { SearchTask } from '../../src/store/screenings.js';

type Result = AmlSearchResult['results'][number];

/** Every hundredth customer has one of two matches changed in a night, which is one match of two hundred; it stays as it is then. */
const turns = 100;

/** Whether a customer's answer of this night is another than the night before; `number` is the customer's. */
export const hasNews = (number: number, night: number): boolean => night > 0 && number % turns === night;

/** The number at the end of a name. */
const toNumber = (name: string): number => Number(name.slice(name.lastIndexOf(' ') + 1));

/** A search that has been answered with two matches, the first of them a hit. */
export function answerSearch(task: SearchTask, attemptId: number, night: number, at: Date): FinishedSearch {
  const number = toNumber(task.name);
  const turn = number % turns;
  const results = turn > 0 && turn <= night ? change(toResults(number), number) : toResults(number);
  const answer: AmlSearchResult = { query: task.name, type: task.type, total: results.length, results };
  const attempt = { attemptId, startedAt: at, endedAt: at, status: 201, outcome: 'ok', serviceRequestId: null };
  return {
    task,
    attempts: { attempts: [attempt], unsentIds: [] },
    outcome: { kind: 'screened', answer, body: JSON.stringify(answer) },
    isMadeAgain: false,
  };
}

const toResults = (number: number): [Result, Result] => [toResult(number, 1), toResult(number, 2)];

const toResult = (number: number, rank: number): Result => ({
  id: `amla_${String(number).padStart(20, 'q7Rk')}${rank}`,
  name: `Aleksandr Nikolayevich Petrov-Vodkin ${number} ${rank}`,
  schema: 'Person',
  match: rank === 1,
  score: 0.97 - rank * 0.06,
  topics: ['sanction', 'role.pep'],
  birth_date: ['1961-04-12', '1961'],
  country: ['ru', 'cy'],
});

/** One of the two as it is after something has happened to it; what, goes round from customer to customer. */
function change([first, second]: readonly [Result, Result], number: number): Result[] {
  const ways: readonly (() => Result[])[] = [
    () => [{ ...first, topics: [...first.topics, 'wanted'] }, second],
    () => [first],
    () => [first, { ...second, id: `${second.id}again` }],
    () => [first, { ...second, match: true, score: 0.9 }],
    () => [{ ...first, birth_date: ['1961-04-13'] }, second],
  ];
  return ways[Math.floor(number / turns) % ways.length]?.() ?? [first, second];
}
