import { readFileSync } from 'node:fs';
import { parser } from '@prometheus-io/lezer-promql';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { createMetrics } from '../../../src/metrics/metrics.js';
import { alertRules } from '../../helpers/alert-rules.js';

const read = (path: string): string => readFileSync(new URL(`../../../deploy/${path}`, import.meta.url), 'utf8');
const dashboard = z
  .object({
    panels: z.array(z.object({ id: z.number(), title: z.string(), targets: z.array(z.object({ expr: z.string() })) })),
  })
  .parse(JSON.parse(read('grafana/dashboard.json')));

const expressions = [
  ...alertRules.map(({ alert, expr }) => [alert, expr] as const),
  ...dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)),
];

/** Names of metrics, and the labels that selectors and groupings use with them. */
function readExpression(expression: string) {
  const names: string[] = [];
  const labels: string[] = [];
  const mistakes: string[] = [];
  parser.parse(expression).iterate({
    enter: ({ name, from, to, type }) => {
      const text = expression.slice(from, to);
      if (type.isError) mistakes.push(text === '' ? `at ${from}` : text);
      if (name === 'Identifier') names.push(text);
      if (name === 'LabelName') labels.push(text);
    },
  });
  return { names, labels, mistakes };
}

const metrics = createMetrics('1.0.0', { isLasting: false });
const known = [...(await metrics.write()).matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name);

it('the grammar finds what is wrong in an expression', () => {
  expect(readExpression('sum by (a) (up{b="c"}) >').mistakes).not.toEqual([]);
  expect(readExpression('sum by (a) (up{b="c"})')).toEqual({ names: ['up'], labels: ['a', 'b'], mistakes: [] });
});

it.each(expressions)('%s: %s can be read, and asks for metrics that there are', (_title, expression) => {
  const { names, mistakes } = readExpression(expression);
  expect(mistakes).toEqual([]);
  expect(names.length).toBeGreaterThan(0);
  expect(names.filter((name) => !known.includes(name))).toEqual([]);
});

it('every alert and panel stands once', () => {
  const titles = [...alertRules.map(({ alert }) => alert), ...dashboard.panels.map(({ title }) => title)];
  expect(new Set(titles).size).toBe(titles.length);
});

it('every figure of ours is on the dashboard or in an alert', () => {
  const used = new Set(expressions.flatMap(([, expression]) => readExpression(expression).names));
  const left = known.filter((name) => name !== undefined && !used.has(name));
  expect(left).toEqual([]);
});
