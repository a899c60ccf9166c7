import { readFileSync } from 'node:fs';
import { parser } from '@prometheus-io/lezer-promql';
import { parse } from 'yaml';
import { z } from 'zod';

const rules = z.object({
  groups: z.array(
    z.object({
      name: z.string(),
      rules: z.array(
        z.strictObject({
          alert: z.string().regex(/^Nightscreen[A-Za-z]+$/),
          expr: z.string(),
          for: z
            .string()
            .regex(/^\d+(m|h)$/)
            .optional(),
          labels: z.object({ severity: z.enum(['page', 'ticket']) }),
          annotations: z.object({ summary: z.string(), description: z.string() }),
        }),
      ),
    }),
  ),
});

/** The alert rules as they are shipped. */
export const alertRules = rules
  .parse(parse(readFileSync(new URL('../../deploy/prometheus/alerts.yaml', import.meta.url), 'utf8')))
  .groups.flatMap(({ rules }) => rules);

/**
 * The alerts whose expression holds at a moment for this metrics text, without the beginning of their names; how long it has to hold (`for`)
 * is not tried. `before` is the text of the days before; the same where it is left out.
 */
export function listFiring(text: string, at: Date, before = text): readonly string[] {
  const moment = {
    atSeconds: at.getTime() / 1_000,
    readText: (offsetSeconds: number) => (offsetSeconds > 0 ? before : text),
  };
  return alertRules.flatMap(({ alert, expr }) => {
    const found = evaluatePromql(expr, moment);
    if (typeof found === 'number') throw new Error(`${alert} gives a number, which always fires`);
    return found.length > 0 ? [alert.replace(/^Nightscreen/, '')] : [];
  });
}

type Node = ReturnType<typeof parser.parse>['topNode'];
type Labels = Readonly<Record<string, string>>;
interface Sample {
  labels: Labels;
  value: number;
}
type Value = number | readonly Sample[];

/** What an expression is evaluated at: a moment in seconds, and the metrics text as it was so many seconds before it. */
interface Moment {
  atSeconds: number;
  readText: (offsetSeconds: number) => string;
}

/**
 * What an expression gives at one moment: a number, or the series that are left. It knows what the shipped alerts use (selectors, min, max,
 * sum and count by labels, time, absent, arithmetic, comparison, and, or, unless, on, group_left, offset) and throws for everything else.
 */
export function evaluatePromql(expression: string, moment: Moment): Value {
  const { topNode } = parser.parse(expression);
  const [root] = listExpressions(topNode);
  if (!root) throw new Error(`there is no expression in ${expression}`);
  return evaluate(root, { ...moment, expression, offsetSeconds: 0 });
}

interface Context extends Moment {
  expression: string;
  offsetSeconds: number;
}

function listChildren(node: Node): Node[] {
  const children: Node[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) children.push(child);
  return children;
}
const listExpressions = (node: Node): Node[] =>
  listChildren(node).filter(({ name }) => /(Expr|Call|Selector|Literal)$/.test(name));
const listLabels = (node: Node | null, { expression }: Context): string[] =>
  (node?.getChildren('LabelName') ?? []).map(({ from, to }) => expression.slice(from, to));
const toText = (node: Node | null, { expression }: Context): string =>
  node === null ? '' : expression.slice(node.from, node.to);

function evaluate(node: Node, context: Context): Value {
  const [first, second] = listExpressions(node);
  switch (node.name) {
    case 'NumberDurationLiteral':
      return toNumber(toText(node, context));
    case 'VectorSelector':
      return select(node, context);
    case 'ParenExpr':
      if (first) return evaluate(first, context);
      break;
    case 'OffsetExpr': {
      const offsetSeconds = toNumber(toText(node.getChild('OffsetDurationExpr'), context));
      if (first) return evaluate(first, { ...context, offsetSeconds });
      break;
    }
    case 'FunctionCall':
      return call(toText(node.getChild('FunctionIdentifier'), context), node, context);
    case 'AggregateExpr':
      return aggregate(node, context);
    case 'BinaryExpr':
      if (first && second) return combine(node, evaluate(first, context), evaluate(second, context), context);
      break;
  }
  throw new Error(`${node.name} is not evaluated: ${toText(node, context)}`);
}

const unitSeconds: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3_600, d: 86_400 };

function toNumber(text: string): number {
  const [, digits = '', unit = ''] = /^(\d+(?:\.\d+)?)([smhd]?)$/.exec(text) ?? [];
  const seconds = unitSeconds[unit];
  if (digits === '' || seconds === undefined) throw new Error(`${text} is no number`);
  return Number(digits) * seconds;
}

function toVector(value: Value): readonly Sample[] {
  if (typeof value === 'number') throw new Error('a number stands where series are wanted');
  return value;
}

function select(node: Node, context: Context): readonly Sample[] {
  const wanted = toText(node.getChild('Identifier'), context);
  const matchers = (node.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? []).map((matcher) => {
    const label = toText(matcher.getChild('LabelName'), context);
    const operator = toText(matcher.getChild('MatchOp'), context);
    const text = toText(matcher.getChild('StringLiteral'), context).slice(1, -1);
    return (labels: Labels): boolean => {
      const value = labels[label] ?? '';
      const isSame = operator.includes('~') ? new RegExp(`^(?:${text})$`).test(value) : value === text;
      return operator.startsWith('!') ? !isSame : isSame;
    };
  });
  const samples: Sample[] = [];
  for (const line of context.readText(context.offsetSeconds).split('\n')) {
    const [, name, inner = '', value = ''] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (name !== wanted) continue;
    const pairs = [...inner.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label = '', text = '']) => [label, text]);
    const labels: Labels = Object.fromEntries(pairs);
    if (matchers.every((matches) => matches(labels))) samples.push({ labels, value: Number(value) });
  }
  return samples;
}

function call(name: string, node: Node, context: Context): Value {
  if (name === 'time') return context.atSeconds;
  const [argument] = listExpressions(node.getChild('FunctionCallBody') ?? node);
  if (name === 'absent' && argument) {
    return toVector(evaluate(argument, context)).length > 0 ? [] : [{ labels: {}, value: 1 }];
  }
  throw new Error(`${name}() is not evaluated`);
}

const aggregations: Readonly<Record<string, (values: readonly number[]) => number>> = {
  min: (values) => Math.min(...values),
  max: (values) => Math.max(...values),
  sum: (values) => values.reduce((sum, value) => sum + value, 0),
  count: (values) => values.length,
};

const pick = (labels: Labels, names: readonly string[]): Labels =>
  Object.fromEntries(names.flatMap((name) => (labels[name] === undefined ? [] : [[name, labels[name]]])));
const toKey = (labels: Labels): string => JSON.stringify(Object.entries(labels).toSorted());

function aggregate(node: Node, context: Context): readonly Sample[] {
  const operator = toText(node.getChild('AggregateOp'), context);
  const combineValues = aggregations[operator];
  const modifier = node.getChild('AggregateModifier');
  const [argument] = listExpressions(node.getChild('FunctionCallBody') ?? node);
  if (!combineValues || !argument || modifier?.getChild('Without')) throw new Error(`${operator} is not evaluated`);
  const names = listLabels(modifier?.getChild('GroupingLabels') ?? null, context);
  const groups = new Map<string, { labels: Labels; values: number[] }>();
  for (const { labels: all, value } of toVector(evaluate(argument, context))) {
    const labels = pick(all, names);
    const group = groups.get(toKey(labels)) ?? { labels, values: [] };
    group.values.push(value);
    groups.set(toKey(labels), group);
  }
  return [...groups.values()].map(({ labels, values }) => ({ labels, value: combineValues(values) }));
}

const arithmetic: Readonly<Record<string, (left: number, right: number) => number>> = {
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => left / right,
};
const comparisons: Readonly<Record<string, (left: number, right: number) => boolean>> = {
  '>': (left, right) => left > right,
  '<': (left, right) => left < right,
  '==': (left, right) => left === right,
};

function combine(node: Node, left: Value, right: Value, context: Context): Value {
  const [one, other] = listExpressions(node);
  const words = context.expression.slice(one?.to, other?.from).trim();
  const [operator = ''] = /^\S+/.exec(words) ?? [];
  const clause = node.getChild('MatchingModifierClause');
  if (node.getChild('BoolModifier') || clause?.getChild('Ignoring') || clause?.getChild('GroupRight')) {
    throw new Error(`${words} is not evaluated`);
  }
  const on = clause?.getChild('On') ? listLabels(clause.getChild('GroupingLabels'), context) : null;
  const keyOf = ({ labels }: Sample): string => toKey(on === null ? labels : pick(labels, on));
  if (/^(and|or|unless)$/.test(operator)) return combineSets(operator, toVector(left), toVector(right), keyOf);
  const compute = arithmetic[operator];
  const holds = comparisons[operator];
  if (!compute && !holds) throw new Error(`${operator} is not evaluated`);
  if (typeof left === 'number' && typeof right === 'number') {
    if (!compute) throw new Error('two numbers are compared');
    return compute(left, right);
  }
  const apply = (sample: Sample, first: number, second: number): Sample[] =>
    compute ? [{ labels: sample.labels, value: compute(first, second) }] : holds?.(first, second) ? [sample] : [];
  if (typeof left === 'number') return toVector(right).flatMap((sample) => apply(sample, left, sample.value));
  if (typeof right === 'number') return left.flatMap((sample) => apply(sample, sample.value, right));
  const isOnce = (samples: readonly Sample[]): boolean => new Set(samples.map(keyOf)).size === samples.length;
  if (!isOnce(right) || (!clause?.getChild('GroupLeft') && !isOnce(left))) {
    throw new Error(`series match several others: ${toText(node, context)}`);
  }
  const partners = new Map(right.map((sample) => [keyOf(sample), sample.value]));
  return left.flatMap((sample) => {
    const partner = partners.get(keyOf(sample));
    return partner === undefined ? [] : apply(sample, sample.value, partner);
  });
}

function combineSets(
  operator: string,
  left: readonly Sample[],
  right: readonly Sample[],
  keyOf: (sample: Sample) => string,
): readonly Sample[] {
  const rightKeys = new Set(right.map(keyOf));
  if (operator === 'and') return left.filter((sample) => rightKeys.has(keyOf(sample)));
  if (operator === 'unless') return left.filter((sample) => !rightKeys.has(keyOf(sample)));
  const leftKeys = new Set(left.map(keyOf));
  return [...left, ...right.filter((sample) => !leftKeys.has(keyOf(sample)))];
}
